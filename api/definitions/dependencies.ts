/** GET …/dependencies: what a definition needs to run. */
import { Type } from "@sinclair/typebox";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { operation, reply } from "../http/operation.ts";
import { integer } from "../http/query.ts";
import { dataOf, listOf } from "../http/schemas.ts";
import { yieldEventLoop } from "../http/yield_event_loop.ts";
import { parseReadAddress } from "./address.ts";
import { type DependencyNode, type DependencyTree, expandDependencies } from "./dependencies/graph.ts";
import { resolveInTurn } from "./dependencies/resolve_in_turn.ts";
import { type DependencyWalk, walkDependencies } from "./dependencies/walk.ts";
import { findReadTarget, requireDefinition } from "./find_visible.ts";
import { READ, TypeName, VersionOrId } from "./schemas.ts";

/** The fields of a definition that depends on others, or that others depend on. */
export const NAMED_VERSION = {
  id: Type.String({ format: "uuid", examples: ["0190c3a4-6b1e-7c55-9d5e-2f8f6f0b7a11"] }),
  organization: Type.String({ description: "The organization's slug", examples: ["demo"] }),
  type: TypeName,
  name: Type.String({ examples: ["reviewer"] }),
  version: Type.String({ examples: ["1.4.0"] }),
};
export const DefinitionVersionName = Type.Object(NAMED_VERSION, { title: "DefinitionVersionName" });
export const Context = Type.String({
  description: "Where the YAML names it, such as `phase checks`",
  examples: ["invokes.agent"],
});
export const Truncated = Type.Boolean({ description: "Whether a limit cut something off" });

const Node = Type.Unsafe<DependencyTree>(
  Type.Object(
    {
      ...NAMED_VERSION,
      context: Type.Optional(
        Type.String({ description: "Where the YAML above names it. The root has none" }),
      ),
      dependencies: Type.Array(Type.Unsafe({ $ref: "#/components/schemas/DependencyNode" }), {
        description: "Empty at `maxDepth`, and where a definition appears again below itself",
      }),
    },
    { title: "DependencyNode", description: "The definition and its dependencies, recursively" },
  ),
);
const Dependency = Type.Object(
  { ...NAMED_VERSION, context: Context, depth: Type.Integer({ minimum: 1 }) },
  { title: "Dependency" },
);
const UnresolvedReference = Type.Object(
  {
    type: TypeName,
    name: Type.String({ examples: ["reviewer"] }),
    range: Type.String({ examples: ["^1.0.0"] }),
    context: Context,
  },
  { title: "UnresolvedReference" },
);

const REVIEWER = {
  id: "0190c3a4-6b1e-7c55-9d5e-2f8f6f0b7a11",
  organization: "demo",
  type: "agent",
  name: "reviewer",
  version: "1.4.0",
};
export const REVIEW_CODE = {
  id: "0190c3a4-6b1e-7c55-9d5e-2f8f6f0b7a10",
  organization: "demo",
  type: "command",
  name: "review-code",
  version: "1.0.0",
};

const Dependencies = Type.Object(
  {
    definition: DefinitionVersionName,
    graph: Node,
    flat: listOf(Dependency, { description: "Each dependency once, at its smallest depth" }),
    totalCount: Type.Integer({ minimum: 0, description: "Number of definitions in `flat`" }),
    maxDepth: Type.Integer({ minimum: 0, description: "The deepest level found" }),
    unresolved: listOf(UnresolvedReference, { description: "References that you cannot resolve" }),
    truncated: Truncated,
  },
  {
    title: "Dependencies",
    examples: [
      {
        definition: REVIEW_CODE,
        graph: {
          ...REVIEW_CODE,
          dependencies: [{ ...REVIEWER, context: "invokes.agent", dependencies: [] }],
        },
        flat: [{ ...REVIEWER, context: "invokes.agent", depth: 1 }],
        totalCount: 1,
        maxDepth: 1,
        unresolved: [],
        truncated: false,
      },
    ],
  },
);

export const getDependencies = operation(
  {
    ...READ,
    id: "getDependencies",
    path: "/api/v1/definitions/{type}/{name}/dependencies",
    summary: "List the dependencies of a definition",
    description:
      "Publishing settles which definition each reference means: `@org/name` names it; a bare `name` is the definition of " +
      "the author's organization, else the one that the author can read by that name. A range resolves to its highest " +
      "published version that you can see, else to the highest deprecated one. References that you cannot resolve are in " +
      "`unresolved`. The tree has at most 5,000 nodes, the nearest ones; `truncated` says whether anything is missing.",
    params: VersionOrId,
    query: { maxDepth: integer({ min: 1, max: 50, unset: 50 }, "Number of levels") },
    response: { 200: dataOf(Dependencies, "The dependencies") },
  },
  async ({ params, query: { maxDepth }, caller, request }, deps) => {
    const target = await findReadTarget(deps.sql, parseReadAddress(params), { caller, request });
    const root = presentDefinition(await requireDefinition(deps.sql, target));
    const { viewer } = target;
    const walk = await resolveInTurn(deps, request, (tx, onStep) =>
      walkDependencies(tx, { roots: [root], viewer, maxDepth, onStep }),
    );
    return reply(200, { data: await presentWalk(walk, { root, maxDepth }) });
  },
);

async function presentWalk(
  { nodes, edges, unresolved, ...walk }: DependencyWalk,
  { root, maxDepth }: { root: DependencyNode; maxDepth: number },
) {
  await yieldEventLoop();
  const found = expandDependencies({ nodes, edges }, { rootId: root.id, maxDepth });
  // A tree of 5,000 nodes is 1.4 MB of text.
  await yieldEventLoop();
  const truncated = walk.truncated || found.truncated;
  return { definition: root, ...found, truncated, unresolved };
}

export function presentDefinition({ id, orgSlug, type, name, version }: DefinitionRow): DependencyNode {
  return { id, organization: orgSlug, type, name, version };
}
