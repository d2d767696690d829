/** GET …/dependents: what needs a definition. */
import { Type } from "@sinclair/typebox";
import { pickVersion } from "../../shared/definitions/version_range.ts";
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
import { Count, data, listOf } from "../http/schemas.ts";
import { yieldEventLoop } from "../http/yield_event_loop.ts";
import { parseReadAddress } from "./address.ts";
import { MAX_DEPENDENCY_NODES } from "./dependencies/graph.ts";
import { resolveInTurn } from "./dependencies/resolve_in_turn.ts";
import { VERSIONS_PER_TURN } from "./dependencies/resolve_references.ts";
import type { OnStep } from "./dependencies/time_limit.ts";
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

/** Reading a range takes as long as comparing it with so many versions. */
const VERSIONS_A_RANGE = 200;

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

/** Finds the versions that have this one, or any version of its line, among their direct dependencies. */
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
  const { total, dependents } =
    ranges.length === 0
      ? { total: 0, dependents: [] }
      : await listDependents(sql, { target: row, ranges, viewer, limit: MAX_DEPENDENCY_NODES });
  const truncated = total > dependents.length || named.length === MAX_REFERENCED_RANGES;
  return { definition: presentDefinition(row), dependents, totalCount: total, truncated };
}

/** Keeps the ranges that fit, each compared with this many versions. Yields to the event loop, and calls `onStep` then. */
export async function filterRanges(
  ranges: readonly string[],
  fits: (range: string) => boolean,
  { versions, onStep }: { versions: number; onStep?: OnStep },
): Promise<string[]> {
  const kept: string[] = [];
  let compared = 0;
  for (const range of ranges) {
    compared += versions + VERSIONS_A_RANGE;
    if (compared > VERSIONS_PER_TURN) {
      await yieldEventLoop();
      onStep?.();
      compared = 0;
    }
    if (fits(range)) kept.push(range);
  }
  return kept;
}
