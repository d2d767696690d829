/** GET …/executions: returns the execution counts of a definition. */
import { type TProperties, Type } from "@sinclair/typebox";
import { Count, dataOf, Instant, listOf } from "../../shared/schemas.ts";
import {
  countExecutions,
  type ExecutionCounts,
  TIME_BUCKETS,
  type TimeBucket,
} from "../../sql/definitions/executions.ts";
import { operation, reply } from "../http/operation.ts";
import { type AddProblem, integer, type QueryValues, word, words } from "../http/query.ts";
import { parseReadAddress } from "./address.ts";
import { findReadTarget, requireAnyVersion } from "./find_visible.ts";
import { READ, VersionOrId } from "./schemas.ts";

const BREAKDOWN_NAMES = ["byTime", "bySource", "byVersion"] as const;
/** 30 days, in minutes. */
const MAX_WINDOW = 43_200;

const EXECUTIONS_QUERY = {
  window: integer(
    { min: 1, max: MAX_WINDOW, unset: 60 },
    "Window of `recentCount` and the breakdowns: the last so many minutes",
  ),
  include: {
    ...words(BREAKDOWN_NAMES, "Breakdowns to include, repeated or separated by commas"),
    read(texts: readonly string[], addProblem: AddProblem): Set<(typeof BREAKDOWN_NAMES)[number]> {
      const given = texts.flatMap((text) => text.split(","));
      const found = given.flatMap((text) => BREAKDOWN_NAMES.find((name) => name === text.trim()) ?? []);
      if (found.length < given.length) addProblem(`must be any of ${BREAKDOWN_NAMES.join(", ")}`);
      return new Set(found);
    },
  },
  timeBucket: word(TIME_BUCKETS, "Bucket size of `byTime`"),
};

function breakdown<Key extends TProperties>(key: Key, description: string, example: object[]) {
  const counted = Type.Object({ ...key, count: Count });
  return Type.Optional(listOf(counted, { description, examples: [example] }));
}

const ExecutionStatistics = Type.Object(
  {
    totalCount: Type.Integer({ minimum: 0, examples: [1240] }),
    recentCount: Type.Integer({ minimum: 0, examples: [3] }),
    windowMinutes: Type.Integer({ examples: [60] }),
    byTime: breakdown({ time: Instant() }, "Every hour or day (UTC) of the window, zeros included", [
      { time: "2026-11-20T09:00:00.000Z", count: 1 },
      { time: "2026-11-20T10:00:00.000Z", count: 2 },
    ]),
    bySource: breakdown({ source: Type.String() }, "Largest first", [
      { source: "cli", count: 2 },
      { source: "sdk", count: 1 },
    ]),
    byVersion: breakdown({ version: Type.String() }, "Largest first; only versions visible to you", [
      { version: "1.4.0", count: 3 },
    ]),
  },
  { title: "ExecutionStatistics" },
);

export const getExecutionStatistics = operation(
  {
    ...READ,
    id: "getExecutionStatistics",
    path: "/api/v1/definitions/{type}/{name}/executions",
    summary: "Get execution statistics of a definition",
    description: "Counts cover all versions, even if the path names one.",
    params: VersionOrId,
    query: EXECUTIONS_QUERY,
    response: { 200: dataOf(ExecutionStatistics, "The statistics") },
  },
  async ({ params, query, caller, request }, { sql }) => {
    const target = await findReadTarget(sql, parseReadAddress(params), { caller, request });
    const { lineId, executionCount } = await requireAnyVersion(sql, target);
    const { include, window, timeBucket } = query;
    const counts = await countExecutions(sql, {
      lineId,
      minutes: window,
      viewer: target.viewer,
      byTime: include.has("byTime") ? timeBucket : null,
      bySource: include.has("bySource"),
      byVersion: include.has("byVersion"),
    });
    const data = {
      // The line's counter is read before the execution records, so it can be lower than their number.
      totalCount: Math.max(executionCount, counts.total),
      recentCount: counts.total,
      windowMinutes: window,
      ...(include.has("byTime") ? { byTime: fillBuckets(counts, query) } : {}),
      ...(include.has("bySource") ? { bySource: counts.bySource } : {}),
      ...(include.has("byVersion") ? { byVersion: counts.byVersion } : {}),
    };
    return reply(200, { data });
  },
);

const BUCKET_MS: Readonly<Record<TimeBucket, number>> = { hour: 3_600_000, day: 86_400_000 };

/** Returns the count of every hour or day (UTC) that the window touches, including zeros. */
function fillBuckets(
  { until, byTime }: ExecutionCounts,
  { window, timeBucket }: QueryValues<typeof EXECUTIONS_QUERY>,
) {
  const step = BUCKET_MS[timeBucket];
  const found = new Map(byTime.map(({ time, count }) => [time, count]));
  const end = Date.parse(until);
  const first = Math.floor((end - window * 60_000) / step);
  const last = Math.floor(end / step);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const time = new Date((first + index) * step).toISOString();
    return { time, count: found.get(time) ?? 0 };
  });
}
