/** Writes a pipeline's notifications, artifacts and state, and the actions after a run. */
import { isRecord } from "../../../plain_values.ts";
import { Fields } from "../field_reader.ts";
import { humanize, writeCommand, writeEntries, writeLeftoverBullets } from "../generic_section.ts";
import { code, type Inline, join, listed, md, type Prose, prose } from "../inline.ts";
import type { Source } from "../markdown_file.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { plural, requiredOrOptional } from "../phrases.ts";
import { withoutAddresses } from "../remove_secrets.ts";

export function writeNotifications(w: MarkdownWriter, notifications: Fields): void {
  const channels = notifications.list("channels").map((value, index) => {
    const map = withoutAddresses(isRecord(value) ? value : { type: value });
    return new Fields(map, `${notifications.path}.channels[${index}]`);
  });
  writeEntries(w, channels, describeChannel, {
    writeBelow: (channel) => w.bullet(md`Under the name ${channel.code("context")}`),
  });
  const templates = notifications.map("templates");
  for (const event of templates.keys()) {
    const template = templates.text(event);
    if (template === null) continue;
    w.paragraph(md`Message for ${code(event)}:`);
    w.fence(template);
  }
}

function describeChannel(channel: Fields): Inline {
  const type = channel.prose("type") ?? md`Channel`;
  const to = listed(["channel", "channels", "recipients", "to"].flatMap((key) => channel.codes(key)));
  const text = join([type, to], " to ") ?? type;
  return md`${text}, on ${listed(channel.codes("events"), "or")}` ?? text;
}

export function writeArtifacts(w: MarkdownWriter, { body }: Source): void {
  w.heading(2, md`Keep`);
  writeEntries(w, body.entries("artifacts", "path"), describeArtifact);
}

/** Describes an artifact of a pipeline or a stage. */
export function describeArtifact(artifact: Fields): Prose | null {
  const days = md`kept for ${plural(artifact.number("retention_days"), "day")}`;
  const facts = join([days, requiredOrOptional(artifact.flag("required"))], ", ");
  const text = join([artifact.code("name", "id"), artifact.code("path")], " at ");
  const described = join([text, md`(${facts})`], " ");
  return md`Artifact ${described}`;
}

export function writeState(w: MarkdownWriter, state: Fields): void {
  const persistence = state.flag("persistence");
  if (persistence === true) w.bullet(md`Remember the state from one run to the next`);
  if (persistence === false) w.bullet(md`Forget the state after each run`);
  w.bullet(md`Forget it after ${state.prose("ttl")}`);
  writeEntries(w, state.entries("custom", "name"), (value) => {
    const text = join([value.code("name"), value.literal("value")], ": ");
    // Without a name and a value, the entry has no bullet, and its other fields are written as leftovers.
    if (text === null) return null;
    const when = md`, on ${value.prose("on")}` ?? md``;
    return md`Set ${text}${when}`;
  });
}

export function writePostflight(w: MarkdownWriter, postflight: Fields): void {
  const tracker = postflight.map("tracker");
  if (tracker.flag("enabled") === false) tracker.discard();
  if (tracker.flag("enabled") === true) w.paragraph(md`Save the result in the tracker.`);
  for (const key of postflight.keys().filter((name) => name === "always" || name.startsWith("on_"))) {
    const actions = postflight.entries(key, "description");
    if (actions.length === 0) continue;
    const outcome = prose(humanize(key.replace(/^on_/, "")).toLowerCase());
    w.paragraph(key === "always" ? md`In any case:` : md`On ${outcome}:`);
    for (const action of actions) writeAction(w, action);
  }
}

function writeAction(w: MarkdownWriter, action: Fields): void {
  const text = action.passage("description", "name", "action") ?? md`Run`;
  writeCommand(w, text, action.text("command"), () => writeLeftoverBullets(w, action));
}
