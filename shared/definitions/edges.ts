/** The places in each language that reference other definitions. */

import { DEFINITION_TYPES, type DefinitionType } from "../vocabulary.ts";
import { scalarText } from "../yaml/scalars.ts";
import { isRecord, toItems, toRecord } from "../yaml/values.ts";
import type { DefinitionSource } from "./source.ts";

/** A place for a reference to another definition. */
export interface Edge {
  type: DefinitionType;
  /** Text in a valid document. */
  text: unknown;
  context: string;
  inTree?: boolean;
  /** The path below the root key. */
  path: readonly (string | number)[];
}

type EdgesOf = (body: Record<string, unknown>) => Edge[];

/** Returns all edges in document order. */
export function listEdges({ type, body }: Pick<DefinitionSource, "type" | "body">): Edge[] {
  return EDGES[type](body);
}

const EDGES: Readonly<Record<DefinitionType, EdgesOf>> = {
  agent: agentEdges,
  command: commandEdges,
  workflow: workflowEdges,
  pipeline: pipelineEdges,
};

/** `recommends`, `conflicts` and `composition` are advice, not edges. */
function agentEdges(body: Record<string, unknown>): Edge[] {
  const { requires } = toRecord(toRecord(body["interface"])["dependencies"]);
  const edge = { type: "agent", context: "dependencies.requires", path: [] } as const;
  return below(
    ["interface", "dependencies", "requires"],
    each(requires, (text) => [{ ...edge, text }]),
  );
}

function commandEdges(body: Record<string, unknown>): Edge[] {
  const agent = (context: string) => (text: unknown) => [{ type: "agent" as const, text, context, path: [] }];
  return inOrder(body, {
    invokes: (invokes) =>
      inOrder(toRecord(invokes), {
        agent: agent("invokes.agent"),
        agents: (texts) => each(texts, agent("invokes.agent")),
      }),
    iteration: (iteration) => inOrder(toRecord(iteration), { target_agent: agent("iteration.target_agent") }),
  });
}

function workflowEdges(body: Record<string, unknown>): Edge[] {
  return below(
    ["orchestration", "phases"],
    each(toRecord(body["orchestration"])["phases"], (item, index) => {
      const phase = toRecord(item);
      const context = `phase ${label(phase, index)}`;
      const named = (type: DefinitionType) => (text: unknown) => [{ type, text, context, path: [] }];
      return inOrder(phase, {
        steps: (steps) =>
          each(steps, (step) =>
            inOrder(toRecord(step), { command: named("command"), agent: named("agent") }),
          ),
        commands: (texts) => each(texts, named("command")),
      });
    }),
  );
}

function pipelineEdges(body: Record<string, unknown>): Edge[] {
  return inOrder(body, {
    triggers: (triggers) => each(triggers, triggerEdges),
    stages: (stages) => each(stages, stageEdges),
  });
}

function triggerEdges(item: unknown): Edge[] {
  const { type, pipeline } = toRecord(item);
  if (type !== "pipeline") return [];
  return [{ type, text: pipeline, context: "trigger", inTree: false, path: ["pipeline"] }];
}

function stageEdges(item: unknown, index: number): Edge[] {
  const stage = toRecord(item);
  const context = `stage ${label(stage, index)}`;
  const references = (type: DefinitionType) => (items: unknown) =>
    each(items, (found) => {
      if (isRecord(found)) return [{ type, text: found["ref"], context, path: ["ref"] }];
      return [{ type, text: found, context, path: [] }];
    });
  return inOrder(stage, {
    workflows: references("workflow"),
    commands: references("command"),
    agents: references("agent"),
    // An older form: one reference, with its type beside it.
    ref: (text) => [{ type: definitionType(stage["type"]) ?? "command", text, context, path: [] }],
  });
}

/** Returns the edges of a map's values in key order. */
function inOrder(map: Record<string, unknown>, edges: Record<string, (value: unknown) => Edge[]>): Edge[] {
  return Object.keys(map).flatMap((key) =>
    Object.hasOwn(edges, key) ? below([key], edges[key]?.(map[key]) ?? []) : [],
  );
}

/** Returns the edges of a list's items, or of the one text in place of a list; none for other values. */
function each(list: unknown, edges: (item: unknown, index: number) => Edge[]): Edge[] {
  const isList = Array.isArray(list);
  return toItems(list).flatMap((item, index) => below(isList ? [index] : [], edges(item, index)));
}

function below(path: Edge["path"], edges: readonly Edge[]): Edge[] {
  return edges.map((edge) => ({ ...edge, path: [...path, ...edge.path] }));
}

function definitionType(word: unknown): DefinitionType | undefined {
  return DEFINITION_TYPES.find((type) => type === word);
}

function label(part: Record<string, unknown>, index: number): string {
  return scalarText(part["id"]) ?? scalarText(part["name"]) ?? String(index + 1);
}
