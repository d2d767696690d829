/** GET …/dependencies and …/dependents: lists the dependencies or the dependents of a definition. */
import { Type } from "@sinclair/typebox";
import { pickVersion } from "../../shared/definitions/version_range.ts";
import { Count, data, dataOf, listOf, Uuid } from "../../shared/schemas.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import {
  listDependents,
  listReferencedRanges,
  listVersionCandidates,
  MAX_REFERENCED_RANGES,
} from "../../sql/definitions/dependents.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import type { DefinitionViewer } from "../../sql/definitions/visibility.ts";
import { operation, reply } from "../http/operation.ts";
import { integer } from "../http/query.ts";
import { yieldEventLoop } from "../http/yield_event_loop.ts";
import { parseReadAddress } from "./address.ts";
import {
  type DependencyNode,
  type DependencyTree,
  expandDependencies,
  MAX_DEPENDENCY_NODES,
} from "./dependencies/graph.ts";
import { type OnStep, resolveInTurn } from "./dependencies/resolve_in_turn.ts";
import { walkDependencies } from "./dependencies/walk.ts";
import { findReadTarget, requireAnyVersion, requireDefinition } from "./find_visible.ts";
import { READ, TypeName, VersionOrId } from "./schemas.ts";

/** Fields that identify a definition version. */
const NAMED_VERSION = {
  id: Uuid({ examples: ["0190c3a4-6b1e-7c55-9d5e-2f8f6f0b7a11"] }),
  organization: Type.String({ description: "The organization's slug", examples: ["demo"] }),
  type: TypeName,
  name: Type.String({ examples: ["reviewer"] }),
  version: Type.String({ examples: ["1.4.0"] }),
};
const DefinitionVersionName = Type.Object(NAMED_VERSION, { title: "DefinitionVersionName" });
const Context = Type.String({
  description: "Where the YAML names it, such as `phase checks`",
  examples: ["invokes.agent"],
});
const Truncated = Type.Boolean({ description: "Whether a limit cut something off" });

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
const REVIEW_CODE = {
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
      "`unresolved`. `flat` and the tree have at most 5,000 nodes each, the nearest; `truncated` says if any is missing.",
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
    await yieldEventLoop();
    const found = expandDependencies(walk, { rootId: root.id, maxDepth });
    // A tree of 5,000 nodes serializes to 1.4 MB of JSON.
    await yieldEventLoop();
    const truncated = walk.truncated || found.truncated;
    return reply(200, { data: { definition: root, ...found, truncated, unresolved: walk.unresolved } });
  },
);

function presentDefinition({ id, orgSlug, type, name, version }: DefinitionRow): DependencyNode {
  return { id, organization: orgSlug, type, name, version };
}

/** Parsing a range takes as long as comparing this many versions with it. */
const VERSIONS_A_RANGE = 200;

const Dependent = Type.Object(
  {
    ...NAMED_VERSION,
    context: Context,
    range: Type.String({ description: "The range in its YAML, such as `^1.0.0`", examples: ["^1.0.0"] }),
  },
  { title: "Dependent", examples: [{ ...REVIEW_CODE, context: "invokes.agent", range: "^1.0.0" }] },
);

export const getDependents = operation(
  {
    ...READ,
    id: "getDependents",
    path: "/api/v1/definitions/{type}/{name}/dependents",
    summary: "List the dependents of a definition",
    description:
      "Lists the versions that depend directly on this version or, for a name without a version, on any version of the " +
      "definition. Versions that you would not find in a list are left out. At most 5,000 are shown. Of more than 1,000 " +
      "different ranges, only 1,000 count, the same number for each author.",
    params: VersionOrId,
    response: {
      200: data(
        {
          definition: DefinitionVersionName,
          dependents: listOf(Dependent),
          totalCount: Count,
          truncated: Truncated,
        },
        "The dependents, by name, highest version first",
      ),
    },
  },
  async ({ params, caller, request }, deps) => {
    const target = await findReadTarget(deps.sql, parseReadAddress(params), { caller, request });
    const row = await requireAnyVersion(deps.sql, target);
    const { viewer } = target;
    const isOneVersion = target.version !== null;
    const data = await resolveInTurn(deps, request, (tx, onStep) =>
      findDependents(tx, { row, viewer, isOneVersion, onStep }),
    );
    await yieldEventLoop();
    return reply(200, { data });
  },
);

/** Finds the versions that depend directly on a version or, unless `isOneVersion`, on any version of its line. */
async function findDependents(
  sql: Sql,
  options: { row: DefinitionRow; viewer: DefinitionViewer; isOneVersion: boolean; onStep: OnStep },
) {
  const { row, viewer, isOneVersion, onStep } = options;
  const [candidates, named] = await Promise.all([
    listVersionCandidates(sql, { lineId: row.lineId, viewer }),
    listReferencedRanges(sql, { target: row, viewer }),
  ]);
  const fits = (range: string) => {
    const picked = pickVersion(range, candidates);
    return isOneVersion ? picked?.id === row.id : picked !== null;
  };
  const ranges = await filterRanges(named, fits, { versions: candidates.length, onStep });
  const limit = MAX_DEPENDENCY_NODES;
  const { total, dependents } = await listDependents(sql, { target: row, ranges, viewer, limit });
  const truncated = total > dependents.length || named.length === MAX_REFERENCED_RANGES;
  return { definition: presentDefinition(row), dependents, totalCount: total, truncated };
}

/** Versions compared with ranges per turn of the event loop (about 8 ms). */
const VERSIONS_PER_TURN = 4_000;

/** Returns the ranges that `fits` accepts. `versions` is the number compared with each range. Calls `onStep` after each yield. */
export async function filterRanges(
  ranges: readonly string[],
  fits: (range: string) => boolean,
  { versions, onStep }: { versions: number; onStep: OnStep },
): Promise<string[]> {
  const kept: string[] = [];
  let compared = 0;
  for (const range of ranges) {
    compared += versions + VERSIONS_A_RANGE;
    if (compared > VERSIONS_PER_TURN) {
      await yieldEventLoop();
      onStep();
      compared = 0;
    }
    if (fits(range)) kept.push(range);
  }
  return kept;
}
