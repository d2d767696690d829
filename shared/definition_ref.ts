/** How one definition names another, `name@range`, and which version that means. */
import semver from "semver";
import { isDefinitionName } from "./definition_name.ts";
import type { DefinitionSource } from "./definition_source.ts";
import { DEFINITION_TYPES, type DefinitionStatus, type DefinitionType } from "./vocabulary.ts";
import { isRecord, toList, toRecord } from "./yaml_values.ts";

/** An edge from a document to a line of definitions. */
export interface DefinitionReference {
  type: DefinitionType;
  name: string;
  /** `1.2.3`, `>=1.2.3`, `<=1.2.3`, `^1.2.3`, `~1.2.3` or `latest`; any other text fits no version. */
  range: string;
  /** Where it stands, such as `phase review`. */
  context: string;
  /** False for what starts a pipeline: recorded, but nothing that is run because of it. */
  inTree: boolean;
}

const RANGE = /^(?:latest|(?:>=|<=|\^|~)?\d+\.\d+\.\d+)$/;
const EXACT_VERSION = /^\d+\.\d+\.\d+$/;

/** `reviewer@^1.0.0` and `reviewer`, which means the latest; `null` for a text of any other form. */
export function parseReference(text: string): { name: string; range: string } | null {
  const { name, range } = splitReference(text);
  return isDefinitionName(name) && RANGE.test(range) ? { name, range } : null;
}

/**
 * The version a range means: the highest published one that fits, else the highest deprecated one. An exact version is
 * found archived too. `null` when none fits.
 */
export function pickVersion<Candidate extends { version: string; status: DefinitionStatus }>(
  range: string,
  candidates: readonly Candidate[],
): Candidate | null {
  if (!RANGE.test(range)) return null;
  if (EXACT_VERSION.test(range)) {
    return candidates.find(({ version, status }) => version === range && status !== "draft") ?? null;
  }
  return highest(range, candidates, "published") ?? highest(range, candidates, "deprecated");
}

/**
 * Everything a document names that it needs, in document order; what names the same in the same place counts once.
 * A text that is no reference is listed too, as one that will not be found; what is no text is left to translation.
 */
export function listReferences(source: Pick<DefinitionSource, "type" | "body">): DefinitionReference[] {
  const found = new Map<string, DefinitionReference>();
  for (const { text, context, type, inTree = true } of EDGES[source.type](source.body)) {
    if (typeof text !== "string" || text.trim() === "") continue;
    const reference = { type, ...splitReference(text), context, inTree };
    const key = JSON.stringify(reference);
    if (!found.has(key)) found.set(key, reference);
  }
  return [...found.values()];
}

function splitReference(text: string): { name: string; range: string } {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf("@");
  // An @ at the front belongs to the name.
  if (at <= 0) return { name: trimmed, range: "latest" };
  return { name: trimmed.slice(0, at).trimEnd(), range: trimmed.slice(at + 1).trimStart() };
}

function highest<Candidate extends { version: string; status: DefinitionStatus }>(
  range: string,
  candidates: readonly Candidate[],
  status: DefinitionStatus,
): Candidate | null {
  const limits = new semver.Range(range === "latest" ? "*" : range);
  let best: Candidate | null = null;
  for (const candidate of candidates) {
    if (candidate.status !== status || !limits.test(candidate.version)) continue;
    if (best === null || semver.gt(candidate.version, best.version)) best = candidate;
  }
  return best;
}

interface Edge {
  type: DefinitionType;
  text: unknown;
  context: string;
  inTree?: boolean;
}

/** Where edges stand in each language (definition languages, section 2). */
const EDGES: Readonly<Record<DefinitionType, (body: Record<string, unknown>) => Edge[]>> = {
  agent: agentEdges,
  command: commandEdges,
  workflow: workflowEdges,
  pipeline: pipelineEdges,
};

/** What an agent recommends, conflicts with or is composed with is advice and no edge. */
function agentEdges(body: Record<string, unknown>): Edge[] {
  const { requires } = toRecord(toRecord(body["interface"])["dependencies"]);
  return toList(requires).map((text) => ({ type: "agent", text, context: "dependencies.requires" }));
}

function commandEdges(body: Record<string, unknown>): Edge[] {
  return inOrder(body, {
    invokes: (invokes) =>
      inOrder(toRecord(invokes), {
        agent: (text) => [{ type: "agent", text, context: "invokes.agent" }],
        agents: (texts) => toList(texts).map((text) => ({ type: "agent", text, context: "invokes.agent" })),
      }),
    iteration: (iteration) => [
      { type: "agent", text: toRecord(iteration)["target_agent"], context: "iteration.target_agent" },
    ],
  });
}

function workflowEdges(body: Record<string, unknown>): Edge[] {
  const phases = toList(toRecord(body["orchestration"])["phases"]).map(toRecord);
  return phases.flatMap((phase, index) => {
    const context = `phase ${label(phase, index)}`;
    const named = (type: DefinitionType) => (text: unknown) => [{ type, text, context }];
    return inOrder(phase, {
      steps: (steps) =>
        toList(steps).flatMap((step) =>
          inOrder(toRecord(step), { command: named("command"), agent: named("agent") }),
        ),
      commands: (texts) => toList(texts).flatMap(named("command")),
    });
  });
}

function pipelineEdges(body: Record<string, unknown>): Edge[] {
  return inOrder(body, {
    triggers: (triggers) =>
      toList(triggers)
        .map(toRecord)
        .filter((trigger) => trigger["type"] === "pipeline")
        .map(({ pipeline }) => ({ type: "pipeline", text: pipeline, context: "trigger", inTree: false })),
    stages: (stages) => toList(stages).map(toRecord).flatMap(stageEdges),
  });
}

function stageEdges(stage: Record<string, unknown>, index: number): Edge[] {
  const context = `stage ${label(stage, index)}`;
  const each = (type: DefinitionType) => (items: unknown) =>
    toList(items).map((item) => ({ type, text: isRecord(item) ? item["ref"] : item, context }));
  return inOrder(stage, {
    workflows: each("workflow"),
    commands: each("command"),
    agents: each("agent"),
    // An older form: one reference, and what it is beside it.
    ref: (text) => [{ type: definitionType(stage["type"]) ?? "command", text, context }],
  });
}

/** Edges of a map's values in the order of its keys. */
function inOrder(map: Record<string, unknown>, edges: Record<string, (value: unknown) => Edge[]>): Edge[] {
  return Object.keys(map).flatMap((key) => (Object.hasOwn(edges, key) ? (edges[key]?.(map[key]) ?? []) : []));
}

function definitionType(word: unknown): DefinitionType | undefined {
  return DEFINITION_TYPES.find((type) => type === word);
}

function label(part: Record<string, unknown>, index: number): string {
  const named = [part["id"], part["name"]].find((text) => typeof text === "string" && text !== "");
  return String(named ?? index + 1);
}
