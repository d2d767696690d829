/** GET …/dependents: what needs a definition. */
import { Type } from "@sinclair/typebox";
import { pickVersion } from "../../shared/definitions/version_range.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import {
  listDependents,
  listReferencedRanges,
  listVersionCandidates,
  MAX_REFERENCED_RANGES,
} from "../../sql/definitions/dependents.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import type { DefinitionViewer } from "../../sql/definitions/visibility.ts";
import { operation, reply } from "../http/operation.ts";
import { Count, data, listOf } from "../http/schemas.ts";
import { yieldEventLoop } from "../http/yield_event_loop.ts";
import { parseReadAddress } from "./address.ts";
import { MAX_DEPENDENCY_NODES } from "./dependencies/graph.ts";
import {
  Context,
  DefinitionVersionName,
  NAMED_VERSION,
  presentDefinition,
  REVIEW_CODE,
  Truncated,
} from "./dependencies.ts";
import { findReadTarget, requireAnyVersion } from "./find_visible.ts";
import { READ, VersionOrId } from "./schemas.ts";

const RANGES_A_TURN = 20;

const Dependent = Type.Object(
  {
    ...NAMED_VERSION,
    context: Context,
    range: Type.String({
      description: "The range in its YAML, such as `^1.0.0`",
      examples: ["^1.0.0"],
    }),
  },
  {
    title: "Dependent",
    examples: [{ ...REVIEW_CODE, context: "invokes.agent", range: "^1.0.0" }],
  },
);

export const getDependents = operation(
  {
    ...READ,
    id: "getDependents",
    path: "/api/v1/definitions/{type}/{name}/dependents",
    summary: "List the dependents of a definition",
    description:
      "Lists the versions that depend directly on this version or, for a name without a version, on any version of the " +
      "definition. Versions that you would not find in a list are left out. At most 5,000 are shown, and of more than 1,000 " +
      "different ranges only those of most organizations count.",
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
  async ({ params, caller, request }, { sql }) => {
    const target = await findReadTarget(sql, parseReadAddress(params), { caller, request });
    const row = await requireAnyVersion(sql, target);
    const { viewer } = target.scope;
    const isOneVersion = target.address.version !== null;
    return reply(200, { data: await findDependents(sql, { row, viewer, isOneVersion }) });
  },
);

/** Finds the versions that have this one, or any version of its line, among their direct dependencies. */
async function findDependents(
  sql: Pool,
  { row, viewer, isOneVersion }: { row: DefinitionRow; viewer: DefinitionViewer; isOneVersion: boolean },
) {
  const [candidates, named] = await Promise.all([
    listVersionCandidates(sql, { lineId: row.lineId, viewer }),
    listReferencedRanges(sql, { target: row, viewer }),
  ]);
  const ranges = await filterRanges(named, (range) => {
    const picked = pickVersion(range, candidates);
    return isOneVersion ? picked?.id === row.id : picked !== null;
  });
  const { total, dependents } =
    ranges.length === 0
      ? { total: 0, dependents: [] }
      : await listDependents(sql, { target: row, ranges, viewer, limit: MAX_DEPENDENCY_NODES });
  await yieldEventLoop();
  const truncated = total > dependents.length || named.length === MAX_REFERENCED_RANGES;
  return { definition: presentDefinition(row), dependents, totalCount: total, truncated };
}

/** Keeps the ranges that fit, and yields to the event loop: each may be compared with thousands of versions. */
export async function filterRanges(
  ranges: readonly string[],
  fits: (range: string) => boolean,
): Promise<string[]> {
  const kept: string[] = [];
  for (const [index, range] of ranges.entries()) {
    if (index % RANGES_A_TURN === RANGES_A_TURN - 1) await yieldEventLoop();
    if (fits(range)) kept.push(range);
  }
  return kept;
}
