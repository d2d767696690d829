/** Whom a pipeline tells what; never through which address. */
import { isRecord } from "../../../yaml/values.ts";
import { Fields } from "../field_reader.ts";
import { writeLeftoverBullets, writeLeftovers } from "../generic_section.ts";
import { code, given, join, listed, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { withoutAddresses } from "./addresses.ts";

export function writeNotifications(w: MarkdownWriter, body: Fields): void {
  const notifications = body.map("notifications");
  if (!notifications) return;
  w.heading(2, md`Tell`);
  for (const [index, value] of notifications.list("channels").entries()) {
    const map = isRecord(value) ? withoutAddresses(value) : withoutAddresses({ type: value });
    writeChannel(w, new Fields(map, `${notifications.path}.channels[${index}]`));
  }
  const templates = notifications.map("templates");
  for (const event of templates?.keys() ?? []) {
    const template = templates?.text(event) ?? null;
    if (template === null) continue;
    w.paragraph(given(code(event), (name) => md`Message for ${name}:`));
    w.fence(template);
  }
  writeLeftovers(w, notifications);
}

function writeChannel(w: MarkdownWriter, channel: Fields): void {
  const type = channel.prose("type") ?? md`Channel`;
  const to = listed([
    ...channel.codes("channel"),
    ...channel.codes("channels"),
    ...channel.codes("recipients"),
    ...channel.codes("to"),
  ]);
  const events = listed(channel.codes("events"), "or");
  const text = join([type, to], " to ") ?? type;
  w.bullet(events === null ? text : md`${text}, on ${events}`, () => {
    w.bullet(given(channel.code("context"), (context) => md`Under the name ${context}`));
    writeLeftoverBullets(w, channel);
  });
}
