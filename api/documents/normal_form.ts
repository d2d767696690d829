/** Normalizes a definition: expands all shorthand of its language. */
import { Scalar, stringify } from "yaml";
import { type DefinitionSource, parseDefinition } from "../../shared/definitions/parse_definition.ts";
import { isRecord, toList } from "../../shared/plain_values.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";

type NormalForm =
  | { ok: true; yaml: string; normalized: Record<string, unknown> }
  | { ok: false; message: string };

type Block = Record<string, unknown>;

/** Expands the shorthand of a body in place. Returns an error message, or null on success. */
type Rule = (body: Block) => string | null;

const RULES: Readonly<Record<DefinitionType, Rule>> = {
  agent: () => null,
  command: normalizeCommand,
  workflow: normalizeWorkflow,
  pipeline: normalizePipeline,
};

/** Expands the shorthand of a copy and keeps existing keys. Normalizing the result again changes nothing. */
export function normalizeDefinition(source: Pick<DefinitionSource, "type" | "root">): NormalForm {
  const normalized = structuredClone(source.root);
  const body = normalized[source.type];
  if (!isRecord(body)) return { ok: false, message: `Cannot normalize: "${source.type}" is not a map` };
  const message = RULES[source.type](body);
  if (message !== null) return { ok: false, message };
  return { ok: true, yaml: toCanonicalYaml(normalized), normalized };
}

function normalizeCommand(body: Block): null {
  const { invokes, preflight, postflight, overrides } = body;
  if (isRecord(invokes)) {
    const { agent, agents } = invokes;
    setAbsent(body, "agents", agent === undefined ? agents : [agent]);
  }
  const checks = isRecord(preflight) && Array.isArray(preflight["checks"]) ? preflight["checks"] : preflight;
  const pass = isRecord(overrides) ? overrides["threshold"] : undefined;
  const execution = body["execution"] ?? {};
  if (!isRecord(execution)) return null;
  setAbsent(execution, "preflight", checks);
  setAbsent(execution, "postflight", postflight);
  // A threshold of 0 is valid.
  setAbsent(execution, "thresholds", pass === undefined ? undefined : { pass });
  if (Object.keys(execution).length > 0) body["execution"] = execution;
  return null;
}

function normalizeWorkflow(body: Block): string | null {
  const { orchestration } = body;
  const phases = isRecord(orchestration) ? orchestration["phases"] : undefined;
  if (!Array.isArray(phases)) return 'Cannot normalize: the workflow has no list "orchestration.phases"';
  for (const phase of phases.filter(isRecord)) normalizePhase(phase);
  return null;
}

function normalizePhase(phase: Block): void {
  const { steps, condition, gate } = phase;
  if (phase["commands"] === undefined && Array.isArray(steps)) {
    const named = (key: string) => steps.filter(isRecord).flatMap((step) => step[key] ?? []);
    phase["commands"] = named("command");
    if (named("agent").length > 0) setAbsent(phase, "agentRefs", named("agent"));
    delete phase["steps"];
  }
  if (["string", "boolean", "number"].includes(typeof condition) && phase["skip_if"] === undefined) {
    phase["skip_if"] = `NOT (${condition})`;
    delete phase["condition"];
  }
  if (isRecord(gate)) setAbsent(gate, "aggregate", "average");
}

function normalizePipeline(body: Block): string | null {
  const { stages } = body;
  if (!Array.isArray(stages)) return 'Cannot normalize: the pipeline has no list "stages"';
  for (const stage of stages.filter(isRecord)) normalizeStage(stage);
  return null;
}

function normalizeStage(stage: Block): void {
  const { ref, type, agents, workflows, commands, steps } = stage;
  if (ref !== undefined) setAbsent(stage, "type", "command");
  if (ref !== undefined || type !== undefined) return;
  const [workflow] = toList(workflows);
  if (toList(agents).length > 0) stage["type"] = "agents";
  else if (toList(workflows).length === 1) {
    stage["ref"] = isRecord(workflow) ? workflow["ref"] : workflow;
    stage["type"] = "workflow";
  } else if (toList(steps).length > 0 && toList(workflows).length + toList(commands).length === 0)
    stage["type"] = "steps";
}

/** Sets a key that is absent, unless the value is undefined. */
function setAbsent(block: Block, key: string, value: unknown): void {
  if (block[key] === undefined && value !== undefined) block[key] = value;
}

/** Returns canonical YAML. Equal documents produce equal text, whatever their key order. Parsing the text restores the document. */
export function toCanonicalYaml(document: Readonly<Record<string, unknown>>): string {
  return stringify(sortKeys(document), { aliasDuplicateObjects: false, blockQuote: "literal", lineWidth: 0 });
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value).toSorted();
  // An object would put integer keys first; a Map keeps the order.
  return new Map(keys.map((key) => [keyNode(key), sortKeys((value as Record<string, unknown>)[key])]));
}

/** Quotes the key `<<`, because YAML parsers read a plain `<<` as a merge key. */
function keyNode(key: string): string | Scalar {
  if (key !== "<<") return key;
  const node = new Scalar(key);
  node.type = Scalar.QUOTE_DOUBLE;
  return node;
}

/**
 * Normalizes a document. The result has `yaml` only with `includeYaml`. If the document cannot be normalized, returns the
 * original text and the reason.
 */
export function normalizeDocument(options: {
  type: DefinitionType;
  yaml: string;
  includeYaml: boolean;
}): object {
  const { type, yaml, includeYaml } = options;
  const parsed = parseDefinition(yaml, { type });
  const result: NormalForm = parsed.ok
    ? normalizeDefinition(parsed.source)
    : { ok: false, message: parsed.problems[0]?.message ?? "the document does not parse" };
  return {
    ...(includeYaml ? { yaml: result.ok ? result.yaml : yaml } : {}),
    ...(result.ok
      ? { normalized: result.normalized }
      : { normalized: null, normalizationError: result.message }),
  };
}
