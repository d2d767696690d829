/** Why the agent exists, and where its part ends. */
import { writeLeftovers } from "../generic_section.ts";
import { type Inline, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { passage } from "../passage.ts";
import type { Agent } from "./agent_source.ts";

export function writeOpening(w: MarkdownWriter, agent: Agent): void {
  w.paragraph(agent.body.map("mission")?.passage("opener") ?? passage(agent.description));
}

export function writePurpose(w: MarkdownWriter, agent: Agent): void {
  const mission = agent.body.map("mission");
  w.heading(2, md`Purpose`);
  w.paragraph(mission?.passage("outcome_framing") ?? null);
  w.paragraph(mission?.passage("stakes") ?? null);
  w.paragraph(mission?.passage("vocabulary_rationale") ?? null);
}

export function writeLimits(w: MarkdownWriter, agent: Agent): void {
  const mission = agent.body.map("mission");
  w.heading(2, md`Limits`);
  w.bullets(md`Stay within your part:`, mission?.passages("role_boundaries") ?? []);
  w.bullets(md`Rules without exception:`, mission?.passages("explicit_prohibitions") ?? []);
  w.bullets(md`What you cannot know, and say so:`, mission?.passages("epistemic_limitations") ?? []);
  const nature = agent.interface.map("epistemic_nature");
  if (nature) {
    w.bullets(
      md`How far your claims reach:`,
      Object.entries(NATURE).map(([key, sentences]) => nature.known(key, sentences)),
    );
    writeLeftovers(w, nature);
  }
  // Whether findings carry codes is said where the codes are listed.
  mission?.skip("taxonomy_mandate");
  if (mission) writeLeftovers(w, mission);
}

const NATURE: Readonly<Record<string, Readonly<Record<string, Inline>>>> = {
  verifiability: {
    mechanically_checkable: md`A machine can check them; say how.`,
    expert_judgment: md`They are expert judgment, which no machine can confirm.`,
    not_checkable: md`Nobody can check them; offer them as opinion.`,
  },
  determinism: {
    deterministic: md`The same input always leads to the same result.`,
    stochastic: md`A second run may differ in its details.`,
    environment_dependent: md`The result depends on the environment; name the one you saw.`,
  },
  claim_type: {
    factual: md`You state what is the case.`,
    normative: md`You state what ought to be the case.`,
    observational: md`You report what you observed, without explaining it.`,
  },
};
