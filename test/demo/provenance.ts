/** Provenance of the demo's documents. */
import type { DemoVersion } from "../../api/admin/demo/demo_bundle.ts";

type DemoProvenance = DemoVersion["provenance"];

const OLIVIA = { type: "human", name: "Olivia Ferreira" } as const;
const PETRA = { type: "human", name: "Petra Lindqvist" } as const;
const REVIEWER = { type: "agent", agentName: "code-reviewer" } as const;
const ARCHITECT = { type: "agent", agentName: "test-architect" } as const;

const BY_HAND: DemoProvenance = {
  authorshipType: "human",
  contributors: [
    { role: "author", ...OLIVIA },
    { role: "reviewer", ...PETRA },
  ],
};

/** Provenance by document name, without `.yaml`. All other documents were written by hand. */
const PROVENANCE: Readonly<Record<string, DemoProvenance>> = {
  "code-reviewer.agent": {
    authorshipType: "collaborative",
    contributors: [
      { role: "author", ...OLIVIA },
      { role: "editor", ...ARCHITECT },
      { role: "publisher", ...PETRA },
    ],
    dialecticRounds: 3,
  },
  "security-auditor.agent": {
    authorshipType: "collaborative",
    contributors: [
      { role: "author", ...PETRA },
      { role: "optimizer", ...REVIEWER },
    ],
    dialecticRounds: 5,
    optimizationRunId: "optimize-security-auditor-7",
  },
  "docs-validator.agent": {
    authorshipType: "agent",
    contributors: [
      { role: "author", ...ARCHITECT },
      { role: "reviewer", ...OLIVIA },
    ],
  },
  "format-fixer.agent": {
    authorshipType: "automated",
    contributors: [{ role: "optimizer", ...REVIEWER }],
    optimizationRunId: "optimize-format-fixer-2",
  },
};

/** Returns the provenance of a document, named without `.yaml`. */
export function provenanceOf(document: string): DemoProvenance {
  return PROVENANCE[document] ?? BY_HAND;
}
