/** OpenAPI descriptions of the export routes; parameters and responses follow from the list of datasets. */
import type { ErrorCode } from "../../shared/errors.ts";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDatasetName,
} from "../../shared/exports/datasets.ts";
import { rowJsonSchema } from "../../shared/exports/row_schema.ts";
import { COUNT, FLAG, ID, INSTANT, listOf, named, oneOf, record, TEXT } from "../../shared/json_schema.ts";
import { describeQuery, type Query, word } from "../http/query.ts";
import { ORG_SLUG } from "../openapi/parameters.ts";
import { dataResponse, ndjsonContent, pathParameter } from "../openapi/responses.ts";
import { describe, describedAt, failsWith, type OtherPath } from "../openapi/types.ts";
import { BUNDLE_QUERY, DELETED_QUERY, datasetQuery, EXAMPLE_AS_OF } from "./export_parameters.ts";
import { FORMAT_ENDINGS, type FormatEnding } from "./format_ending.ts";
import { BUNDLE_ARCHIVE } from "./manifest_schema.ts";

const TAG = "Export";

const PROJECT = pathParameter(
  "project",
  "The project's id, or its slug or name in the organization of the request",
  "checkout-service",
);

/** When the service ends an export early. */
export const STREAM_RULES =
  "A user runs at most `EXPORT_STREAMS_PER_USER` exports at once and an organization `EXPORT_STREAMS_PER_ORG`; more are " +
  "429. The connection is closed if the caller loses access, if the export takes longer than " +
  "`EXPORT_STREAM_MAX_MINUTES`, or, while others wait for a slot, if the reader falls 1.5 MiB behind 16 KiB/s.";
/** The error of a file endpoint when a share of the slots is used up. */
export const SHARE_USED_UP = ["RATE_LIMITED", { share: "user", limit: 2 }] as const;

/** The error of an export that has a row with a time that no format can write. */
const WRONG_TIME = [
  "UNPROCESSABLE_ENTITY",
  {
    ...{ reason: "time", dataset: "issues", column: "resolvedAt", time: "0044-03-15 00:00:00+00 BC" },
    id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  },
] as const;

export const FILE_HEADERS = {
  "X-Export-As-Of": { description: "The cutoff: rows created later are excluded", schema: INSTANT },
  "X-Export-Next-Since": { description: "Pass it as `since` for the next increment", schema: INSTANT },
  "X-Export-Total-Rows": { description: "Exact number of rows in the file", schema: { type: "integer" } },
  "Content-Disposition": { description: "`attachment` with a file name", schema: TEXT },
};

const EXPORT_FAILURES: readonly ErrorCode[] = [
  "SUBSCRIPTION_REQUIRED",
  "ORG_ACCESS_DENIED",
  "PROJECT_NOT_FOUND",
];
const BUNDLE_FAILURES: readonly ErrorCode[] = [
  ...EXPORT_FAILURES,
  "INSUFFICIENT_ORG_ROLE",
  "KEY_KIND_FORBIDDEN",
  "EXPORT_PREPARE_TIMEOUT",
];

/** Such as `exportIssueNotes`. */
function operationIdOf(name: ExportDatasetName): string {
  return `export-${name}`.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The parameters of the path without an ending: clients get NDJSON from it, so no other format is described there. */
function describeNdjsonQuery(query: Query, endings: readonly FormatEnding[]): object[] {
  const others = endings.map(
    (ending) => `\`format=${ending}\` responds as the path that ends in \`.${ending}\``,
  );
  const description = `\`ndjson\` keeps every value. ${others.join(", ")}`;
  return describeQuery({ ...query, format: { ...word(["ndjson"], description) } });
}

/** The parameters of a path with an ending. */
function describeEndingQuery({ format: _, ...query }: Query): object[] {
  return describeQuery(query);
}

const FORMS = {
  csv: {
    summary: " as CSV",
    description: "RFC 4180 in UTF-8 with a byte order mark and a header row; formulas are neutralized",
    content: { "text/csv": { schema: TEXT } },
  },
  parquet: {
    summary: " as Parquet",
    description: "Apache Parquet with typed columns; JSON columns are text of the logical type JSON",
    content: { "application/vnd.apache.parquet": { schema: { type: "string", format: "binary" } } },
  },
} as const;

/** Describes one dataset at its own paths: with its filters, and the schema of its rows. Each format is an operation. */
function describeDataset(name: ExportDatasetName): OtherPath[] {
  const dataset = EXPORT_DATASETS[name];
  const query = datasetQuery(dataset);
  const path = `/api/v1/export/projects/:project/${name}`;
  const operationId = operationIdOf(name);
  const summary = `Export the ${name.replaceAll("-", " ")} of a project`;
  return [
    {
      path,
      detail: {
        operationId,
        summary,
        parameters: [PROJECT, ORG_SLUG, ...describeNdjsonQuery(query, FORMAT_ENDINGS)],
        responses: fileResponses("The rows: one JSON object per line", ndjsonContent(rowJsonSchema(dataset))),
      },
    },
    ...FORMAT_ENDINGS.map((ending) => ({
      path: `${path}.${ending}`,
      detail: {
        operationId: `${operationId}${capitalized(ending)}`,
        summary: `${summary}${FORMS[ending].summary}`,
        parameters: [PROJECT, ORG_SLUG, ...describeEndingQuery(query)],
        responses: fileResponses(FORMS[ending].description, FORMS[ending].content),
      },
    })),
  ];
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function fileResponses(description: string, content: object): object {
  return { 200: { description, headers: FILE_HEADERS, content } };
}

/** Each dataset is an operation of its own, because they differ in filters and rows. */
export const DATASET_DETAIL = describe({
  tags: [TAG],
  description:
    "Streams rows ordered by time, then id. Errors are returned as JSON before the first byte; a later failure closes " +
    `the connection. \`Accept-Encoding: gzip\` or \`zstd\` compresses NDJSON and CSV. ${STREAM_RULES}`,
  ...describedAt(EXPORT_DATASET_NAMES.flatMap(describeDataset)),
  ...failsWith(...EXPORT_FAILURES, "EXPORT_TOO_LARGE", "EXPORT_PREPARE_TIMEOUT", WRONG_TIME, SHARE_USED_UP),
});

const DELETED_ROW = record({
  dataset: oneOf(EXPORT_DATASET_NAMES),
  id: ID,
  at: { ...INSTANT, description: "When it was deleted or hidden" },
});

export const DELETED_DETAIL = describe({
  tags: [TAG],
  operationId: "exportDeleted",
  summary: "Export the ids of rows that left a project's export",
  description:
    "Rows that were deleted after `since`, or that the flags exclude since then. To keep a copy current, delete these rows, " +
    "then insert or replace the rows of each dataset with the same `since` and `as_of`. Pass the flags of the copy. Key rows " +
    "by project and id: a row that moved to another project is listed here and is in the rows of the other. " +
    `Ordered by dataset, time and id. ${STREAM_RULES}`,
  parameters: [PROJECT, ORG_SLUG, ...describeNdjsonQuery(DELETED_QUERY, ["csv"])],
  responses: fileResponses(
    "The rows: one JSON object per line",
    ndjsonContent(named("DeletedRow", DELETED_ROW)),
  ),
  ...failsWith(...EXPORT_FAILURES, "EXPORT_TOO_LARGE", "EXPORT_PREPARE_TIMEOUT", SHARE_USED_UP),
});

export const DELETED_CSV_DETAIL = describe({
  ...DELETED_DETAIL,
  operationId: "exportDeletedCsv",
  summary: "Export the ids of rows that left a project's export as CSV",
  parameters: [PROJECT, ORG_SLUG, ...describeEndingQuery(DELETED_QUERY)],
  responses: fileResponses("The rows, with a header row", FORMS.csv.content),
});

const BUNDLE_PARAMETERS = [PROJECT, ORG_SLUG, ...describeQuery(BUNDLE_QUERY)];

export const BUNDLE_DETAIL = describe({
  tags: [TAG],
  operationId: "exportBundle",
  summary: "Export all datasets of a project as a ZIP",
  description:
    "One file per dataset, all from one database snapshot with one cutoff, and README.md, schema.json and " +
    `manifest.json, which has rows, bytes and SHA-256 of each file. A truncated download is not a valid ZIP. ${STREAM_RULES}`,
  parameters: BUNDLE_PARAMETERS,
  responses: {
    200: {
      description: "The archive",
      headers: FILE_HEADERS,
      content: BUNDLE_ARCHIVE,
    },
  },
  ...failsWith(...BUNDLE_FAILURES, "EXPORT_TOO_LARGE", WRONG_TIME, SHARE_USED_UP),
});

const ESTIMATE = record({
  asOf: INSTANT,
  rowCounts: record(Object.fromEntries(EXPORT_DATASET_NAMES.map((name) => [name, COUNT]))),
  totalRows: COUNT,
  estimatedBytes: COUNT,
  syncAllowed: { ...FLAG, description: "Whether the bundle is within EXPORT_BUNDLE_MAX_ROWS" },
});

export const ESTIMATE_DETAIL = describe({
  tags: [TAG],
  operationId: "estimateBundle",
  summary: "Estimate the size of a bundle",
  description:
    "Requires the same rights as the bundle. `syncAllowed` is true if the bundle is small enough to be downloaded. " +
    "An estimate uses no export slot; a user runs at most two at once.",
  parameters: BUNDLE_PARAMETERS,
  responses: {
    200: dataResponse(
      "Exact rows; bytes before compression, estimated from a sample",
      named("Estimate", ESTIMATE),
      {
        asOf: EXAMPLE_AS_OF,
        rowCounts: Object.fromEntries(EXPORT_DATASET_NAMES.map((name) => [name, 120])),
        totalRows: 960,
        estimatedBytes: 912_000,
        syncAllowed: true,
      },
    ),
  },
  ...failsWith(...BUNDLE_FAILURES, WRONG_TIME, SHARE_USED_UP),
});

const COLUMN = record({
  name: TEXT,
  type: oneOf(["uuid", "text", "integer", "number", "boolean", "timestamp", "json"]),
  nullable: FLAG,
  description: TEXT,
});

const DATASET = record({
  name: oneOf(EXPORT_DATASET_NAMES),
  timeColumn: { ...TEXT, description: "The column that as_of and the order of rows use" },
  columns: listOf(named("DatasetColumn", COLUMN)),
  filters: listOf(TEXT),
  jsonSchema: { type: "object", additionalProperties: true, description: "JSON Schema 2020-12 of a row" },
});

export const DATASET_LIST_DETAIL = describe({
  tags: [TAG],
  operationId: "listExportDatasets",
  summary: "List datasets and their columns",
  description: "The same for every caller. A row has exactly these columns, in this order.",
  responses: {
    200: dataResponse(
      "The eight datasets with columns, filters and JSON Schema",
      record({ datasets: listOf(named("Dataset", DATASET)) }),
      {
        datasets: [
          {
            name: "issue-notes",
            timeColumn: "createdAt",
            columns: [{ name: "id", type: "uuid", nullable: false, description: "Key of the note" }],
            filters: ["issue_id", "note_type"],
            jsonSchema: rowJsonSchema(EXPORT_DATASETS["issue-notes"]),
          },
        ],
      },
    ),
  },
});
