/** How the routes of export jobs describe themselves. */
import { VISIBILITY_FLAGS } from "../../shared/export_datasets.ts";
import { EXPORT_FORMATS, EXPORT_JOB_ERROR_CODES, EXPORT_JOB_STATUSES } from "../../shared/vocabulary.ts";
import { describe, failsWith } from "../openapi.ts";
import { EXAMPLE_AS_OF, FILE_HEADERS, FLAG_DESCRIPTIONS, ORG_SLUG } from "./openapi.ts";

const TAG = "Export jobs";
const INSTANT = { type: "string", format: "date-time" };
const ID = { type: "string", format: "uuid" };
const COUNT = { type: "integer", minimum: 0 };

const JOB_ID = { name: "job_id", in: "path", required: true, schema: ID };

const VISIBILITY_FIELDS = ["includeDeleted", "includeArchived", "includeSuperseded", "includeResolved"];
const PROGRESS_FIELDS = ["projectsDone", "projectsTotal", "rowsWritten", "bytesWritten"];

function allOf(names: readonly string[], schema: object) {
  return {
    type: "object",
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, schema])),
  };
}

const ALWAYS = {
  id: ID,
  status: { type: "string", enum: EXPORT_JOB_STATUSES },
  format: { type: "string", enum: EXPORT_FORMATS },
  asOf: { ...INSTANT, description: "The watermark: the time of queueing unless another was asked for" },
  createdAt: INSTANT,
  requestedBy: { ...ID, description: "The user who asked for it" },
  organizationId: ID,
  visibility: allOf(VISIBILITY_FIELDS, { type: "boolean" }),
  attempt: { ...COUNT, description: "0 before the first build; three are made" },
  progress: allOf(PROGRESS_FIELDS, COUNT),
};

const JOB = {
  type: "object",
  required: Object.keys(ALWAYS),
  properties: {
    ...ALWAYS,
    startedAt: INSTANT,
    readyAt: INSTANT,
    expiresAt: { ...INSTANT, description: "From then on the download is gone" },
    finishedAt: INSTANT,
    artifact: {
      type: "object",
      required: ["fileName", "bytes", "sha256"],
      properties: { fileName: { type: "string" }, bytes: COUNT, sha256: { type: "string" } },
    },
    errorCode: { type: "string", enum: EXPORT_JOB_ERROR_CODES },
    errorMessage: { type: "string" },
  },
};

function answers(description: string, schema: object) {
  return { description, content: { "application/json": { schema } } };
}

const ONE_JOB = { type: "object", required: ["job"], properties: { job: JOB } };

export const QUEUE_JOB_DETAIL = describe({
  tags: [TAG],
  operationId: "queueExportJob",
  summary: "Queue an export of the whole organization",
  description: "One job an organization is active at a time: whoever asks meanwhile is told of that one.",
  parameters: [ORG_SLUG],
  requestBody: {
    required: false,
    content: {
      "application/json": {
        schema: {
          type: "object",
          additionalProperties: false,
          properties: {
            format: { type: "string", enum: EXPORT_FORMATS, default: "ndjson" },
            as_of: { ...INSTANT, example: EXAMPLE_AS_OF },
            ...Object.fromEntries(
              VISIBILITY_FLAGS.map((flag) => [
                flag,
                {
                  type: "boolean",
                  default: flag === "include_resolved",
                  description: FLAG_DESCRIPTIONS[flag],
                },
              ]),
            ),
          },
        },
      },
    },
  },
  responses: { 201: answers("Queued", ONE_JOB), 200: answers("The one that is active already", ONE_JOB) },
  ...failsWith(
    "SUBSCRIPTION_REQUIRED",
    "ORG_ACCESS_DENIED",
    "INSUFFICIENT_ORG_ROLE",
    "INSUFFICIENT_SCOPE",
    "KEY_KIND_FORBIDDEN",
    "EXPORT_JOB_LIMIT",
  ),
});

export const LIST_JOBS_DETAIL = describe({
  tags: [TAG],
  operationId: "listExportJobs",
  summary: "List the organization's export jobs, newest first",
  parameters: [
    ORG_SLUG,
    { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 100, default: 20 } },
    { name: "offset", in: "query", schema: { ...COUNT, default: 0 } },
  ],
  responses: {
    200: answers("A page of them", {
      type: "object",
      required: ["jobs", "total", "limit", "offset"],
      properties: { jobs: { type: "array", items: JOB }, total: COUNT, limit: COUNT, offset: COUNT },
    }),
  },
  ...failsWith("ORG_ACCESS_DENIED", "INSUFFICIENT_ORG_ROLE", "KEY_KIND_FORBIDDEN"),
});

export const GET_JOB_DETAIL = describe({
  tags: [TAG],
  operationId: "getExportJob",
  summary: "Tell how an export job is doing",
  parameters: [JOB_ID],
  responses: { 200: answers("The job", ONE_JOB) },
  ...failsWith("EXPORT_JOB_NOT_FOUND", "INSUFFICIENT_ORG_ROLE", "KEY_KIND_FORBIDDEN"),
});

export const CANCEL_JOB_DETAIL = describe({
  tags: [TAG],
  operationId: "cancelExportJob",
  summary: "Cancel an export job that is still queued",
  parameters: [JOB_ID],
  responses: { 200: answers("Canceled: failed with errorCode CANCELED", ONE_JOB) },
  ...failsWith(
    "EXPORT_JOB_NOT_FOUND",
    "INSUFFICIENT_ORG_ROLE",
    "INSUFFICIENT_SCOPE",
    "KEY_KIND_FORBIDDEN",
    "EXPORT_JOB_RUNNING",
    "EXPORT_JOB_FINISHED",
  ),
});

const ZIP = { "application/zip": { schema: { type: "string", format: "binary" } } };
const DOWNLOAD_HEADERS = {
  ...FILE_HEADERS,
  ETag: { description: "The SHA-256 of the file", schema: { type: "string" } },
  "Repr-Digest": { description: "The same as RFC 9530 has it", schema: { type: "string" } },
};

export const DOWNLOAD_DETAIL = describe({
  tags: [TAG],
  operationId: "downloadExportJob",
  summary: "Download the file of an export job",
  description: "One Range is honoured, If-Range too, so that a download that broke off can go on.",
  parameters: [
    JOB_ID,
    { name: "Range", in: "header", example: "bytes=1048576-", schema: { type: "string" } },
    { name: "If-Range", in: "header", schema: { type: "string" } },
  ],
  responses: {
    200: { description: "The archive", headers: DOWNLOAD_HEADERS, content: ZIP },
    206: { description: "The part that was asked for", headers: DOWNLOAD_HEADERS, content: ZIP },
  },
  ...failsWith(
    "EXPORT_JOB_NOT_FOUND",
    "KEY_KIND_FORBIDDEN",
    "EXPORT_NOT_READY",
    "EXPORT_JOB_FAILED",
    "EXPORT_EXPIRED",
    "RANGE_NOT_SATISFIABLE",
  ),
});
