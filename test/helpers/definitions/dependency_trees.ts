/** Dependency trees as the API returns them. */
import type { DependencyTree } from "../../../api/definitions/dependencies/graph.ts";

/** A definition named `name` that depends on the others. */
export function treeOf(name: string, ...dependencies: DependencyTree[]): DependencyTree {
  return {
    id: name,
    organization: "demo",
    type: "agent",
    name,
    version: "1.0.0",
    context: "invokes.agent",
    dependencies,
  };
}
