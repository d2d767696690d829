/** Classifies field changes by significance, and suggests the next version. */
import { toList, toRecord } from "../plain_values.ts";
import type { ChangeType } from "../vocabulary.ts";
import { scalarFlag, scalarText } from "../yaml/scalars.ts";
import { type ComparedDefinition, type FieldChange, partsOf } from "./diff.ts";
import { expandEntries } from "./language/walk_keys.ts";

export const SIGNIFICANCES = ["breaking", "structural", "cosmetic", "metadata"] as const;
/**
 * The significance of a change. `breaking`: callers must change something. `structural`: the definition works differently.
 * `cosmetic`: only the wording changes. `metadata`: only discovery and description change, not behavior.
 */
export type Significance = (typeof SIGNIFICANCES)[number];

export interface SignificantChange extends Pick<FieldChange, "path" | "type"> {
  significance: Significance;
  reason: string;
}

type Decision = Pick<SignificantChange, "significance" | "reason">;

interface Rule extends Decision {
  path: RegExp;
  /** The type of change; any type if omitted. */
  type?: FieldChange["type"];
  /** An additional condition, for changes that the path alone does not decide. */
  when?: (change: FieldChange) => boolean;
}

/** The path step of a list entry. A quoted id may contain brackets. */
const ENTRY = String.raw`\[(?:"(?:[^"\\]|\\.)*"|[^\]"]+)\]`;
const REFERENCE_PATHS =
  /^(?:agent\.interface\.dependencies|command\.(?:invokes|iteration\.target_agent)|workflow\.orchestration\.phases\[.+?\]\.(?:steps|commands)|pipeline\.stages\[.+?\]\.(?:workflows|commands|agents|ref))/;
const INPUT_PATHS =
  /^(?:agent\.tasks\.inputs|command\.inputs|workflow\.arguments\.(?:positional|flags)|pipeline\.triggers\[.+?\]\.parameters)/;
/** A single input, or the whole list of inputs, but not a field of an input. */
const WHOLE_INPUTS = new RegExp(`${INPUT_PATHS.source}(?:${ENTRY})?$`);
/** A single input. In a map of inputs, the names of the inputs are the keys. */
const ONE_INPUT = String.raw`${INPUT_PATHS.source}(?:${ENTRY}|\.[\w-]+)`;
const REQUIRED_PATH = new RegExp(`^(${ONE_INPUT})\\.required$`);
/** Entries whose name is only for people. In other entries, the name identifies a variable or field. */
const TITLED_ENTRIES =
  /(?:phases|stages|steps|passes|categories|criteria|operations|conditions|edge_cases|axioms|failure_signatures|calibration_examples|parallel_groups|agent\.output\.sections|agent\.tasks\.outputs)/;

type Limits = Pick<Rule, "type" | "when">;

function rulesOf(significance: Significance) {
  return (path: RegExp, reason: string, limits: Limits = {}): Rule => {
    return { path, significance, reason, ...limits };
  };
}

const breaking = rulesOf("breaking");
const structural = rulesOf("structural");
const cosmetic = rulesOf("cosmetic");
const metadata = rulesOf("metadata");

/** The rules in order of precedence. The first matching rule decides. */
const RULES: readonly Rule[] = [
  breaking(/^\w+\.interface\.name$/, "References use this name"),
  breaking(
    /^\w+\.interface\.(?:agentType|commandType)$/,
    "What it is, and so what its answer looks like, is another",
  ),
  metadata(
    /^\w+\.interface\.(?:displayName|description|domain|subdomain|tags|author)\b/,
    "How it is found and described",
  ),
  metadata(/^(?!(?:agent|command|workflow|pipeline)\b)|^\w+\.meta\b/, "Not read when it runs"),
  structural(WHOLE_INPUTS, "Takes an input that callers may leave out", {
    type: "added",
    when: ({ path, newValue }) => !isRequired(path, newValue),
  }),
  breaking(WHOLE_INPUTS, "Needs an input that callers do not give", { type: "added" }),
  breaking(WHOLE_INPUTS, "Callers may still give this input", { type: "removed" }),
  breaking(
    new RegExp(`${INPUT_PATHS.source}.*\\.default$`),
    "Nothing stands in for an input that callers leave out",
    { when: ({ oldValue, newValue }) => (oldValue ?? null) !== null && (newValue ?? null) === null },
  ),
  breaking(
    new RegExp(`${INPUT_PATHS.source}.*\\.(?:type|required|name|pattern|options|values|source|arg|env)\\b`),
    "Callers have to give this input in another way",
  ),
  breaking(/^agent\.(?:decisions|completion)\.vocabulary\b/, "Callers read these words in the answer"),
  breaking(
    /\.exit_code$|^\w+\.output\.(?:format|schema)$|^workflow\.aggregation\.decision\b/,
    "Callers act on this part of the answer",
  ),
  breaking(
    /^(?:agent\.tasks\.outputs|workflow\.outputs|pipeline\.stages\[.+?\]\.(?:outputs|artifacts))/,
    "Callers may still expect this result",
    { type: "removed" },
  ),
  breaking(
    new RegExp(`^(?:workflow\\.outputs\\.variables|pipeline\\.stages${ENTRY}\\.outputs)${ENTRY}\\.name$`),
    "Callers use this name",
    { type: "modified" },
  ),
  breaking(
    new RegExp(`^(?:workflow\\.orchestration\\.phases|pipeline\\.(?:stages|triggers))${ENTRY}$`),
    "A part of the run is gone",
    { type: "removed" },
  ),
  structural(new RegExp(`^pipeline\\.triggers(?:${ENTRY})?$`), "Starts in one more way", { type: "added" }),
  structural(REFERENCE_PATHS, "Uses other definitions, or other versions of them"),
  cosmetic(
    /\.(?:description|label|message|emoji|banner|purpose|displayName|rationale|\w+_rationale)$|\.(?:tone|examples|references|global_references|key_definitions)\b/,
    "Wording only",
    { type: "modified" },
  ),
  cosmetic(new RegExp(`\\b${TITLED_ENTRIES.source}${ENTRY}\\.name$`), "Wording only", { type: "modified" }),
];

/** The decision for changes that no rule matches. */
const OTHER: Decision = { significance: "structural", reason: "Works differently" };

/** The decisions for `required`, depending on whether callers had to provide the input before and have to provide it now. */
const REQUIREMENTS = {
  same: { significance: "cosmetic", reason: "Callers give this input as before" },
  less: { significance: "structural", reason: "Callers may leave this input out" },
  more: { significance: "breaking", reason: "Callers can no longer leave this input out" },
} as const satisfies Record<string, Decision>;

const MOVED: Decision = { significance: "breaking", reason: "Callers give these arguments by position" };
/** Matches the lists that may contain positional arguments, and their entries. */
const ARGUMENT_PATHS = new RegExp(`^(?:workflow\\.arguments\\.positional|command\\.inputs)(?:${ENTRY})?$`);

/** Classifies the changes between two documents. Unchanged fields are omitted. */
export function classifyChanges(
  changes: readonly FieldChange[],
  { from, to }: { from: ComparedDefinition; to: ComparedDefinition },
): SignificantChange[] {
  const hasMoved = hasMovedArguments(from, to);
  const changed = changes.filter(({ type }) => type !== "unchanged");
  const isAnyRequirement = changed.some(({ path }) => REQUIRED_PATH.test(path));
  const [before, after] = isAnyRequirement ? [listRequired(from), listRequired(to)] : [NO_PATHS, NO_PATHS];
  return changed.map((change) => {
    const { path, type } = change;
    const input = REQUIRED_PATH.exec(path)?.[1];
    if (input !== undefined) {
      const [was, is] = [before.has(input), after.has(input)];
      return { path, type, ...REQUIREMENTS[was === is ? "same" : is ? "more" : "less"] };
    }
    const { significance, reason } = hasMoved && placesArguments(change) ? MOVED : decide(change);
    return { path, type, significance, reason };
  });
}

const NO_PATHS: ReadonlySet<string> = new Set();

/** Returns the paths of the required inputs. */
function listRequired({ type, root }: ComparedDefinition): ReadonlySet<string> {
  const found = new Set<string>();
  const pattern = new RegExp(`^${ONE_INPUT}$`);
  const visit = (part: FieldChange): void => {
    if (!pattern.test(part.path)) for (const inner of partsOf(part)) visit(inner);
    else if (isRequired(part.path, part.newValue)) found.add(part.path);
  };
  visit({ path: type, type: "added", newValue: expandEntries(type, toRecord(root[type])) });
  return found;
}

/** Returns true if the lists of positional arguments differ at an index that both have. */
function hasMovedArguments(from: ComparedDefinition, to: ComparedDefinition): boolean {
  const after = listArguments(to);
  return listArguments(from).some((name, index) => index < after.length && name !== after[index]);
}

/** Returns the names of the positional arguments, in order. */
function listArguments({ type, root }: ComparedDefinition): (string | null)[] {
  const body = expandEntries(type, toRecord(root[type]));
  const listed =
    type === "workflow"
      ? toList(toRecord(body["arguments"])["positional"])
      : toList(body["inputs"]).filter((input) => isArgument("command.inputs", input));
  return listed.map((entry) => scalarText(toRecord(entry)["name"]));
}

/** Returns true for a change of the argument order and for a new argument. */
function placesArguments({ path, type, newValue }: FieldChange): boolean {
  if (!ARGUMENT_PATHS.test(path)) return false;
  return type === "modified" || (type === "added" && isArgument(path, newValue));
}

/** Returns the part of the version to increase. Without changes, it is `patch`. */
export function suggestBump(changes: readonly Pick<SignificantChange, "significance">[]): ChangeType {
  const has = (significance: Significance) => changes.some((change) => change.significance === significance);
  if (has("breaking")) return "major";
  return has("structural") ? "minor" : "patch";
}

/** Classifies a change. If no rule matches a block, a part that breaks existing callers makes the block breaking. */
function decide(change: FieldChange): Decision {
  const { path, type } = change;
  const rule = RULES.find(
    (candidate) =>
      candidate.path.test(path) && (candidate.type ?? type) === type && (candidate.when?.(change) ?? true),
  );
  if (rule) return rule;
  for (const part of partsOf(change)) {
    const decided = decide(part);
    if (decided.significance === "breaking" && affectsCallers(part)) return decided;
  }
  return OTHER;
}

/** Returns true if existing callers are affected. They do not use the parts of a new block yet, but they lack new inputs. */
function affectsCallers({ path, type }: FieldChange): boolean {
  return type === "removed" || INPUT_PATHS.test(path);
}

/** Returns true if an input is declared as required, or if it is an argument without a default. */
function isRequired(path: string, input: unknown): boolean {
  if (Array.isArray(input)) return input.some((one) => isRequired(path, one));
  const { required, default: fallback } = toRecord(input);
  return scalarFlag(required) ?? (isArgument(path, input) && (fallback ?? null) === null);
}

/** Returns true for inputs that callers pass by position: positional arguments of a workflow, and inputs with the source `arg`. */
function isArgument(path: string, input: unknown): boolean {
  return path.startsWith("workflow.arguments.positional") || toRecord(input)["source"] === "arg";
}
