/** What stays when a pipeline has run, and what is done then. */
import type { Fields } from "../field_reader.ts";
import { humanize, writeCommand, writeLeftoverBullets, writeLeftovers } from "../generic_section.ts";
import { given, join, md, prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { writeArtifactSection } from "./artifact.ts";

export function writeArtifacts(w: MarkdownWriter, body: Fields): void {
  w.heading(2, md`Keep`);
  for (const artifact of body.entries("artifacts", "path")) writeArtifactSection(w, artifact);
}

export function writeState(w: MarkdownWriter, body: Fields): void {
  const state = body.map("state");
  if (!state) return;
  w.heading(2, md`Remember`);
  const persistence = state.flag("persistence");
  if (persistence !== null) {
    w.bullet(
      persistence ? md`Remember the state from one run to the next` : md`Forget the state after each run`,
    );
  }
  w.bullet(given(state.prose("ttl"), (ttl) => md`Forget it after ${ttl}`));
  for (const value of state.entries("custom", "name")) {
    const text = join([value.code("name"), value.code("value")], ": ");
    const when = given(value.prose("on"), (event) => md`, on ${event}`) ?? md``;
    w.bullet(
      given(text, (known) => md`Set ${known}${when}`),
      () => writeLeftoverBullets(w, value),
    );
  }
  writeLeftovers(w, state);
}

export function writePostflight(w: MarkdownWriter, body: Fields): void {
  const postflight = body.map("postflight");
  if (!postflight) return;
  w.heading(2, md`Afterwards`);
  const tracker = postflight.map("tracker");
  if (tracker?.flag("enabled") === false) tracker.discard();
  if (tracker?.flag("enabled") === true) w.paragraph(md`Save the result in the tracker.`);
  for (const key of postflight.keys().filter((name) => name === "always" || name.startsWith("on_"))) {
    const actions = postflight.entries(key, "description");
    if (actions.length === 0) continue;
    const outcome = prose(humanize(key.replace(/^on_/, "")).toLowerCase());
    w.paragraph(key === "always" ? md`In any case:` : given(outcome, (name) => md`On ${name}:`));
    for (const action of actions) writeAction(w, action);
  }
  writeLeftovers(w, postflight);
}

function writeAction(w: MarkdownWriter, action: Fields): void {
  const text = action.passage("description", "name", "action") ?? md`Run`;
  writeCommand(w, text, action.text("command"), () => writeLeftoverBullets(w, action));
}
