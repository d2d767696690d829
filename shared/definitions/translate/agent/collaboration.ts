/** Whom the agent works with, and how it sounds. */
import type { Fields } from "../field_reader.ts";
import { writeLeftovers } from "../generic_section.ts";
import { given, type Inline, listed, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import type { Agent } from "./agent_source.ts";

export function writeCollaboration(w: MarkdownWriter, agent: Agent): void {
  w.heading(2, md`Works with`);
  const dependencies = agent.interface.map("dependencies");
  if (dependencies) writeDependencies(w, dependencies);
  const handoff = agent.body.map("handoff");
  if (handoff) writeHandoff(w, handoff);
  const composition = agent.body.map("composition");
  for (const block of [dependencies, handoff, composition]) {
    if (block) writeLeftovers(w, block);
  }
}

function writeDependencies(w: MarkdownWriter, dependencies: Fields): void {
  const agents = (key: string): Inline | null => listed(dependencies.codes(key));
  w.bullet(given(agents("requires"), (names) => md`Needs ${names}`));
  w.bullet(given(agents("recommends"), (names) => md`Works well beside ${names}`));
  w.bullet(given(agents("conflicts"), (names) => md`Does not go together with ${names}`));
}

function writeHandoff(w: MarkdownWriter, handoff: Fields): void {
  const upstream = handoff.map("upstream_context");
  const downstream = handoff.map("downstream_artifacts");
  w.bullet(
    given(listed(upstream?.proses("accepts") ?? []), (kinds) => md`Accepts from those before it: ${kinds}`),
  );
  w.bullet(given(upstream?.passage("input_contract") ?? null, (text) => md`What it must be given: ${text}`));
  w.bullet(
    given(listed(downstream?.proses("produces") ?? []), (kinds) => md`Hands on to those after it: ${kinds}`),
  );
  w.bullet(given(downstream?.passage("output_contract") ?? null, (text) => md`What it promises: ${text}`));
}

export function writeVoice(w: MarkdownWriter, tone: Fields): void {
  w.bullet(given(listed(tone.proses("attributes")), (words) => md`Tone: ${words}`));
  for (const guideline of tone.passages("guidelines")) w.bullet(guideline);
}
