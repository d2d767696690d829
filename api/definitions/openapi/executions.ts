/** Query parameters and OpenAPI of executions. */
import { COUNT, FLAG, ID, INSTANT, listOf, named, record, TEXT } from "../../../shared/json_schema.ts";
import { TIME_BUCKETS } from "../../../sql/definitions/executions.ts";
import { type AddProblem, describeQuery, integer, word, words } from "../../http/query.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { DEFINITIONS_TAG, NOT_MODIFIED, TYPE_PARAMETER, VERSION_OR_ID } from "./operations.ts";

function countsBy(key: string, schema: object, description: string) {
  return { ...listOf(record({ [key]: schema, count: COUNT })), description };
}

const BREAKDOWNS = {
  byTime: countsBy("time", INSTANT, "Every hour or day (UTC) of the window, zeros included"),
  bySource: countsBy("source", TEXT, "Largest first"),
  byVersion: countsBy("version", TEXT, "Largest first; only versions visible to you"),
};

const STATISTICS = named(
  "ExecutionStatistics",
  record(
    { totalCount: COUNT, recentCount: COUNT, windowMinutes: { type: "integer" }, ...BREAKDOWNS },
    Object.keys(BREAKDOWNS),
  ),
);

const BREAKDOWN_NAMES = ["byTime", "bySource", "byVersion"] as const;
/** 30 days, in minutes. */
const MAX_WINDOW = 43_200;

export const EXECUTIONS_QUERY = {
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

export const EXECUTIONS_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "getExecutionStatistics",
  summary: "Get execution statistics of a definition",
  description: "Counts cover all versions, even if the path names one.",
  parameters: [TYPE_PARAMETER, VERSION_OR_ID, ORG_SLUG, ...describeQuery(EXECUTIONS_QUERY)],
  responses: {
    200: dataResponse("The statistics", STATISTICS, {
      totalCount: 1240,
      recentCount: 3,
      windowMinutes: 60,
      byTime: [
        { time: "2026-11-20T09:00:00.000Z", count: 1 },
        { time: "2026-11-20T10:00:00.000Z", count: 2 },
      ],
      bySource: [
        { source: "cli", count: 2 },
        { source: "sdk", count: 1 },
      ],
      byVersion: [{ version: "1.4.0", count: 3 }],
    }),
    ...NOT_MODIFIED,
  },
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED"),
});

const RECORDED = named(
  "RecordedExecution",
  record({
    recorded: FLAG,
    duplicate: FLAG,
    definition: record({ id: ID, type: TEXT, name: TEXT, version: TEXT }),
    executionCount: { ...COUNT, description: "Executions of all versions, including this one" },
  }),
);

const EXAMPLE = {
  recorded: true,
  duplicate: false,
  definition: {
    id: "0190c3a4-6b1e-7c55-9d5e-2f8f6f0b7a11",
    type: "agent",
    name: "reviewer",
    version: "1.4.0",
  },
  executionCount: 1241,
};

export const RECORD_EXECUTION_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "recordExecution",
  summary: "Record an execution",
  description:
    "Platform administrators only; for any version of any organization, private ones included; `@org/name` names the organization. Each `runId` counts once " +
    "per definition, whatever the version.",
  // Platform administrators are seldom members of the organization, as X-Org-Slug requires.
  parameters: [TYPE_PARAMETER, VERSION_OR_ID],
  responses: {
    200: dataResponse("Already recorded", RECORDED, { ...EXAMPLE, recorded: false, duplicate: true }),
    201: dataResponse("Recorded", RECORDED, EXAMPLE),
  },
  ...failsWith("ROLE_REQUIRED", "INSUFFICIENT_SCOPE", "NOT_FOUND", "ORG_ACCESS_DENIED"),
});
