/** The versions in the demo's registry: the documents in `definitions/` and variations of them. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DemoContent, DemoVersion } from "../../api/admin/demo/demo_bundle.ts";
import { type DefinitionChanges, editDefinition } from "../../shared/definitions/edit.ts";
import { DEFINITION_TYPES, type DefinitionType, type DefinitionVisibility } from "../../shared/vocabulary.ts";
import { provenanceOf } from "./provenance.ts";

const FOLDER = join(import.meta.dir, "definitions");

const FIRST_VERSION = "First version";

interface Variation {
  /** The name of the original document, without `.yaml`. */
  from: string;
  changes: DefinitionChanges;
  changeSummary?: string;
  visibility?: DefinitionVisibility;
  status?: DemoVersion["status"];
  deprecation?: NonNullable<DemoVersion["deprecation"]>;
}

/** Versions older than the documents in `definitions/`. */
const EARLIER: readonly Variation[] = [
  {
    from: "security-auditor.agent",
    changes: { version: "1.0.0", description: "Looks for exploitable weaknesses in a service.", tags: [] },
  },
  {
    from: "security-auditor.agent",
    changes: { version: "1.1.0", tags: ["security"] },
    changeSummary: "Added a tag",
  },
  {
    from: "release-notes-writer.agent",
    changes: { version: "1.0.0", description: "Writes release notes from the titles of pull requests." },
    status: "archived",
    deprecation: {
      reason: "It reads only titles, which say too little.",
      successor: "release-notes-writer@2.0.0",
    },
  },
];

/** Versions newer than the documents in `definitions/`, and definitions derived from them under other names. */
const LATER: readonly Variation[] = [
  {
    from: "code-reviewer.agent",
    changes: { version: "1.1.0", tags: ["review", "quality", "pull-request"] },
    changeSummary: "Added tags for its uses",
  },
  {
    from: "code-reviewer.agent",
    changes: {
      version: "1.2.0",
      description: "Reviews a change for behavior, tests, clarity and compatibility before it is merged.",
    },
    changeSummary: "The description lists what is reviewed",
  },
  {
    from: "code-reviewer.agent",
    changes: { version: "2.0.0", displayName: "Code Reviewer, next" },
    changeSummary: "Start of the next major version",
    status: "draft",
  },
  {
    from: "review-code.command",
    changes: { version: "1.0.1", displayName: "Review the Code" },
    changeSummary: "Clearer display name",
  },
  {
    from: "format-fixer.agent",
    changes: {
      name: "style-fixer",
      version: "1.0.0",
      displayName: "Style Fixer",
      description:
        "Fixes the code style of a repository. Format Fixer does the same with the formatter alone.",
    },
    status: "deprecated",
    deprecation: {
      reason: "Format Fixer does the same, and nothing a formatter would not do.",
      successor: "format-fixer",
    },
  },
  {
    from: "incident-analyst.agent",
    changes: { name: "incident-scribe", displayName: "Incident Scribe" },
    visibility: "unlisted",
  },
  {
    from: "rollout-forecaster.agent",
    changes: { name: "rollout-forecaster-lab", version: "0.1.0", displayName: "Rollout Forecaster, lab" },
    visibility: "private",
  },
];

/** Change summaries of the documents that are not first versions. */
const SUMMARIES: Readonly<Record<string, string>> = {
  "security-auditor.agent": "Says what it looks for and how certain it is",
  "release-notes-writer.agent": "Reads the changes, not only their titles",
};

/** The demo's fork, in another organization. */
export const DEMO_FORK: DemoContent["fork"] = {
  orgSlug: "paper-lantern",
  source: { type: "agent", name: "code-reviewer", version: "1.0.0" },
  wanted: {
    name: "recipe-reviewer",
    visibility: "public",
    displayName: "Recipe Reviewer",
    description: "Reviews a change to a recipe as carefully as a change to code.",
  },
};

/** Returns all versions of the first organization. Each version refers only to earlier versions. */
export async function readDemoVersions(): Promise<DemoVersion[]> {
  const documents = await readDocuments();
  const vary = ({ from, changes, deprecation, ...settings }: Variation): DemoVersion => {
    const document = documents.get(from);
    if (!document) throw new Error(`Cannot make a demo definition from "${from}": there is no such document`);
    const edited = editDefinition(document.yaml, changes);
    if (!edited.ok)
      throw new Error(`Cannot make a demo definition from "${from}": ${edited.problems[0]?.message}`);
    return {
      type: document.type,
      yaml: edited.yaml,
      visibility: settings.visibility ?? "public",
      status: settings.status ?? "published",
      changeSummary: settings.changeSummary ?? FIRST_VERSION,
      provenance: provenanceOf(from),
      ...(deprecation ? { deprecation } : {}),
    };
  };
  const asWritten = [...documents.keys()].map((from) => ({
    from,
    changes: {},
    changeSummary: SUMMARIES[from] ?? FIRST_VERSION,
  }));
  return [...EARLIER, ...asWritten, ...LATER].map(vary);
}

/** Reads the documents by name, agents first and pipelines last. */
async function readDocuments(): Promise<Map<string, { type: DefinitionType; yaml: string }>> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".yaml")).toSorted();
  const documents = new Map<string, { type: DefinitionType; yaml: string }>();
  for (const type of DEFINITION_TYPES) {
    for (const file of files.filter((name) => name.endsWith(`.${type}.yaml`))) {
      documents.set(file.slice(0, -".yaml".length), {
        type,
        yaml: await readFile(join(FOLDER, file), "utf8"),
      });
    }
  }
  return documents;
}
