/** GET …/dependencies and …/dependents: what a definition needs to run, and what needs it. */
import { Elysia } from "elysia";
import { pickVersion } from "../../shared/definitions/pick_version.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import {
  listDependents,
  listReferencedRanges,
  listVersionCandidates,
} from "../../sql/definitions/dependents.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import type { DefinitionViewer } from "../../sql/definitions/visibility.ts";
import { access } from "../http/access.ts";
import { parseQuery, queryOf, rejectQuery } from "../http/query.ts";
import { conditionalJson } from "../http/response/conditional_json.ts";
import { nextTurn } from "../http/yield_event_loop.ts";
import { DefinitionParams, parseReadAddress } from "./address.ts";
import { type DependencyNode, expandDependencies, MAX_DEPENDENCY_NODES } from "./dependencies/graph.ts";
import { walkDependencies } from "./dependencies/walk.ts";
import { findReadTarget, requireAnyVersion, requireDefinition } from "./find_readable.ts";
import { DEPENDENCIES_DETAIL, DEPENDENCIES_QUERY, DEPENDENTS_DETAIL } from "./openapi/dependencies.ts";

export function dependencyRoutes({ sql }: { sql: Pool }) {
  return new Elysia({ prefix: "/definitions/:type/:name" })
    .use(access)
    .get(
      "/dependencies",
      async ({ params, request, visitor }) => {
        const address = parseReadAddress(params);
        const { maxDepth } = parseQuery(DEPENDENCIES_QUERY, queryOf(request));
        const target = await findReadTarget(sql, { address, visitor, request });
        const row = await requireDefinition(sql, target);
        const { viewer } = target.scope;
        return conditionalJson(request, { data: await findDependencies(sql, { row, viewer, maxDepth }) });
      },
      { publicAccess: true, params: DefinitionParams, detail: DEPENDENCIES_DETAIL },
    )
    .get(
      "/dependents",
      async ({ params, request, visitor }) => {
        const address = parseReadAddress(params);
        rejectQuery(request);
        const target = await findReadTarget(sql, { address, visitor, request });
        const row = await requireAnyVersion(sql, target);
        const { viewer } = target.scope;
        const isOneVersion = target.address.version !== null;
        return conditionalJson(request, { data: await findDependents(sql, { row, viewer, isOneVersion }) });
      },
      { publicAccess: true, params: DefinitionParams, detail: DEPENDENTS_DETAIL },
    );
}

async function findDependencies(
  sql: Pool,
  given: { row: DefinitionRow; viewer: DefinitionViewer; maxDepth: number },
) {
  const { row, viewer, maxDepth } = given;
  const root = presentDefinition(row);
  const { nodes, edges, unresolved, ...walk } = await walkDependencies(sql, {
    roots: [root],
    viewer,
    maxDepth,
  });
  await nextTurn();
  const found = expandDependencies({ nodes, edges }, { rootId: row.id, maxDepth });
  // A tree of 5,000 nodes is 1.4 MB of text.
  await nextTurn();
  const truncated = walk.truncated || found.truncated;
  return { definition: root, ...found, truncated, unresolved };
}

/** Finds the versions that have this one, or any version of its line, among their direct dependencies. */
async function findDependents(
  sql: Pool,
  { row, viewer, isOneVersion }: { row: DefinitionRow; viewer: DefinitionViewer; isOneVersion: boolean },
) {
  const [candidates, named] = await Promise.all([
    listVersionCandidates(sql, { lineId: row.lineId, viewer }),
    listReferencedRanges(sql, row),
  ]);
  const ranges = named.filter((range) => {
    const picked = pickVersion(range, candidates);
    return isOneVersion ? picked?.id === row.id : picked !== null;
  });
  const { total, dependents } =
    ranges.length === 0
      ? { total: 0, dependents: [] }
      : await listDependents(sql, { target: row, ranges, viewer, limit: MAX_DEPENDENCY_NODES });
  await nextTurn();
  const truncated = total > dependents.length;
  return { definition: presentDefinition(row), dependents, totalCount: total, truncated };
}

function presentDefinition({ id, orgSlug, type, name, version }: DefinitionRow): DependencyNode {
  return { id, organization: orgSlug, type, name, version };
}
