/** The places in each language that reference other definitions. */
import type { DefinitionType } from "../vocabulary.ts";
import { walkKeys } from "./language/walk_keys.ts";
import type { DefinitionSource } from "./source.ts";

/** A place for a reference to another definition. */
export interface Edge {
  type: DefinitionType;
  /** Text in a valid document. */
  text: unknown;
  context: string;
  inTree: boolean;
  /** The path below the root key. */
  path: readonly (string | number)[];
}

/** Returns all edges in document order. */
export function listEdges(source: Pick<DefinitionSource, "type" | "body">): Edge[] {
  const edges: Edge[] = [];
  walkKeys(source, ({ key, value, path, around, context }) => {
    if (key?.kind !== "reference") return;
    const type = key.target(around.value);
    if (type !== null)
      edges.push({ type, text: value, context: key.context || context, inTree: key.inTree, path });
  });
  return edges;
}
