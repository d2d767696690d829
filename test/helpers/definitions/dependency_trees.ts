/** Creates dependency trees as the API returns them. */
import type { DependencyTree } from "../../../api/definitions/dependencies/graph.ts";

/** Returns the tree of a definition named `name` with these dependencies. */
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
