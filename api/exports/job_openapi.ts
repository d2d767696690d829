/** OpenAPI descriptions of the export job routes. */
import { COUNT, ID, INSTANT, listOf, named, oneOf, record, TEXT } from "../../shared/json_schema.ts";
import {
  BUILD_FAULTS,
  EXPORT_FORMATS,
  EXPORT_JOB_ERROR_CODES,
  EXPORT_JOB_STATUSES,
} from "../../shared/vocabulary.ts";
import { describeQuery, flag, limit, offset, type QueryParameter } from "../http/query.ts";
import { ORG_SLUG } from "../openapi/parameters.ts";
import { headerParameter, jsonResponse, pathParameter } from "../openapi/responses.ts";
import { describe, failsWith } from "../openapi/types.ts";
import { BUNDLE_QUERY, EXAMPLE_AS_OF } from "./export_parameters.ts";
import { ORGANIZATION_ARCHIVE, VISIBILITY } from "./manifest_schema.ts";
import { FILE_HEADERS, SHARE_USED_UP, STREAM_RULES } from "./openapi.ts";

const TAG = "Export";
const EXAMPLE_JOB_ID = "4b6a3f4e-2c71-4d0a-8f5e-1d2c3b4a5f60";

const JOB_ID = pathParameter("job_id", "The job's id", EXAMPLE_JOB_ID, ID);

const ALWAYS = {
  id: ID,
  number: { ...COUNT, description: "Numbers the organization's jobs from 1" },
  status: oneOf(EXPORT_JOB_STATUSES),
  format: oneOf(EXPORT_FORMATS),
  asOf: {
    ...INSTANT,
    description: "The cutoff: rows created later are excluded. Default: about the time of queueing",
  },
  createdAt: INSTANT,
  requestedBy: { ...ID, description: "The user who queued the job" },
  organizationId: ID,
  visibility: VISIBILITY,
  attempt: { ...COUNT, description: "Number of the current build attempt, at most 3; 0 before the first" },
  progress: record({ projectsDone: COUNT, projectsTotal: COUNT, rowsWritten: COUNT, bytesWritten: COUNT }),
};

const LATER = {
  since: { ...INSTANT, description: "Set for an increment: only rows that changed after this time" },
  waitingFor: {
    ...oneOf(BUILD_FAULTS),
    description: "Set while a queued job waits because the artifact storage or the database failed",
  },
  retryAt: { ...INSTANT, description: "When a job with `waitingFor` is tried again" },
  startedAt: INSTANT,
  readyAt: INSTANT,
  expiresAt: { ...INSTANT, description: "When the file is deleted" },
  finishedAt: INSTANT,
  artifact: record({ fileName: TEXT, bytes: COUNT, sha256: TEXT }),
  errorCode: oneOf(EXPORT_JOB_ERROR_CODES),
  errorMessage: TEXT,
};

const JOB = named("ExportJob", record({ ...ALWAYS, ...LATER }, Object.keys(LATER)));

const QUEUED_JOB = {
  id: EXAMPLE_JOB_ID,
  number: 12,
  status: "queued",
  format: "ndjson",
  asOf: EXAMPLE_AS_OF,
  createdAt: EXAMPLE_AS_OF,
  requestedBy: "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c11",
  organizationId: "0b9b7f0a-6a2e-4b1c-8b0e-6c3a0e6b7d21",
  visibility: {
    includeDeleted: false,
    includeArchived: false,
    includeSuperseded: false,
    includeResolved: true,
  },
  attempt: 0,
  progress: { projectsDone: 0, projectsTotal: 0, rowsWritten: 0, bytesWritten: 0 },
};
const READY_JOB = {
  ...QUEUED_JOB,
  status: "ready",
  attempt: 1,
  progress: { projectsDone: 2, projectsTotal: 2, rowsWritten: 1920, bytesWritten: 182_400 },
  startedAt: "2026-11-20T10:00:01.000Z",
  readyAt: "2026-11-20T10:05:00.000Z",
  finishedAt: "2026-11-20T10:05:00.000Z",
  expiresAt: "2026-11-23T10:05:00.000Z",
  artifact: {
    fileName: "demo__2026-11-20T10-00-00Z.zip",
    bytes: 182_400,
    sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  },
};
const CANCELED_JOB = {
  ...QUEUED_JOB,
  status: "failed",
  finishedAt: "2026-11-20T10:00:02.000Z",
  errorCode: "CANCELED",
  errorMessage: "Canceled before its build began",
};

const ONE_JOB = record({ job: JOB });

const ACTIVE_JOB = record(
  {
    ...ONE_JOB.properties,
    parametersDiffer: {
      type: "boolean",
      enum: [true],
      description:
        "Set if the job differs from the request in format, since, flags or a given as_of. The request was not queued",
    },
    message: { ...TEXT, description: "With parametersDiffer: names the parameters, with both values" },
  },
  ["parametersDiffer", "message"],
);

/**
 * The fields are those of a bundle's query. They have no `default`, because generated types would then require them.
 */
const OPTIONS = Object.fromEntries(
  Object.entries<QueryParameter<unknown>>(BUNDLE_QUERY).map(([name, parameter]) => {
    const { default: unset, ...schema } = parameter.schema;
    const description = `${parameter.description}${unset === undefined ? "" : `. If unset: ${unset}`}`;
    return [name, { ...schema, description, ...("example" in parameter && { example: parameter.example }) }];
  }),
);

export const QUEUE_JOB_DETAIL = describe({
  tags: [TAG],
  operationId: "queueExportJob",
  summary: "Export an organization",
  description:
    "Queues a job that builds a ZIP of every project. An organization has at most one active job; while there is one, it is " +
    "returned with status 200. If its parameters are not those of the request, `parametersDiffer` is true.",
  parameters: [ORG_SLUG],
  requestBody: {
    required: false,
    content: {
      "application/json": {
        schema: {
          title: "NewExportJob",
          type: "object",
          additionalProperties: false,
          examples: [{ format: "csv", include_deleted: true }],
          // Without it, about the time of queueing.
          properties: { ...OPTIONS, as_of: { ...INSTANT, example: EXAMPLE_AS_OF } },
        },
      },
    },
  },
  responses: {
    201: jsonResponse("The new job", ONE_JOB, { job: QUEUED_JOB }),
    200: jsonResponse("The job that is already active", ACTIVE_JOB, {
      job: QUEUED_JOB,
      parametersDiffer: true,
      message:
        "Export #12 is still active, with other parameters: format is ndjson, not csv. Yours was not queued. Wait until #12 has ended or cancel it, then queue yours",
    }),
  },
  ...failsWith(
    "SUBSCRIPTION_REQUIRED",
    "ORG_ACCESS_DENIED",
    "INSUFFICIENT_ORG_ROLE",
    "KEY_KIND_FORBIDDEN",
    "EXPORT_JOB_LIMIT",
  ),
});

export const JOBS_QUERY = {
  limit: limit({ max: 100, unset: 20 }, "Jobs per page"),
  offset: offset("Jobs to skip"),
};

export const LIST_JOBS_DETAIL = describe({
  tags: [TAG],
  operationId: "listExportJobs",
  summary: "List export jobs",
  description:
    "Lists the organization's jobs, newest first, including those of other members. Requires the publisher role.",
  parameters: [ORG_SLUG, ...describeQuery(JOBS_QUERY)],
  responses: {
    200: jsonResponse(
      "A page of jobs",
      record({ jobs: listOf(JOB), total: COUNT, limit: COUNT, offset: COUNT }),
      {
        jobs: [READY_JOB],
        total: 1,
        limit: 20,
        offset: 0,
      },
    ),
  },
  ...failsWith("ORG_ACCESS_DENIED", "INSUFFICIENT_ORG_ROLE", "KEY_KIND_FORBIDDEN"),
});

export const GET_JOB_DETAIL = describe({
  tags: [TAG],
  operationId: "getExportJob",
  summary: "Get an export job",
  description: "Requires the publisher role in the job's organization. X-Org-Slug is ignored.",
  parameters: [JOB_ID],
  responses: { 200: jsonResponse("The job", ONE_JOB, { job: READY_JOB }) },
  ...failsWith("EXPORT_JOB_NOT_FOUND", "INSUFFICIENT_ORG_ROLE", "KEY_KIND_FORBIDDEN"),
});

export const CANCEL_QUERY = {
  force: flag(false, "Also cancel a running job; its build stops within seconds", "must be true or false"),
};

export const CANCEL_JOB_DETAIL = describe({
  tags: [TAG],
  operationId: "cancelExportJob",
  summary: "Cancel an export job",
  description:
    "Cancels a queued job, with `force=true` also a running one. A job that is canceled before its first build does " +
    "not count towards `EXPORT_JOBS_PER_HOUR`.",
  parameters: [JOB_ID, ...describeQuery(CANCEL_QUERY)],
  responses: {
    200: jsonResponse("The canceled job: `failed` with errorCode `CANCELED`", ONE_JOB, { job: CANCELED_JOB }),
  },
  ...failsWith(
    "EXPORT_JOB_NOT_FOUND",
    "INSUFFICIENT_ORG_ROLE",
    "KEY_KIND_FORBIDDEN",
    "EXPORT_JOB_RUNNING",
    "EXPORT_JOB_FINISHED",
  ),
});

const DOWNLOAD_HEADERS = {
  ...FILE_HEADERS,
  ETag: { description: "SHA-256 of the file", schema: TEXT },
  "Repr-Digest": { description: "SHA-256 of the file, as in RFC 9530", schema: TEXT },
};

export const DOWNLOAD_DETAIL = describe({
  tags: [TAG],
  operationId: "downloadExportJob",
  summary: "Download an organization export",
  description: `Supports one \`Range\` with \`If-Range\`, so that a broken download can be resumed. ${STREAM_RULES}`,
  parameters: [
    JOB_ID,
    headerParameter("Range", "A range of bytes, such as `bytes=1048576-`"),
    headerParameter("If-Range", "ETag of the file that was partly downloaded"),
  ],
  responses: {
    200: { description: "The archive", headers: DOWNLOAD_HEADERS, content: ORGANIZATION_ARCHIVE },
    206: {
      description: "The requested range",
      headers: DOWNLOAD_HEADERS,
      content: ORGANIZATION_ARCHIVE,
    },
  },
  ...failsWith(
    "EXPORT_JOB_NOT_FOUND",
    "KEY_KIND_FORBIDDEN",
    SHARE_USED_UP,
    "EXPORT_NOT_READY",
    "EXPORT_JOB_FAILED",
    "EXPORT_EXPIRED",
    "RANGE_NOT_SATISFIABLE",
  ),
});
