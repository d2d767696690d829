/** Export jobs in the API: schema, examples and lookup. */
import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../shared/errors.ts";
import { toVisibility, visibilityOf } from "../../shared/exports/datasets.ts";
import { orgExportFileName } from "../../shared/exports/file_names.ts";
import { type ExportFacts, maySeeOrg, type Verdict } from "../../shared/policy.ts";
import { Instant, Natural, oneOf, Text, Uuid } from "../../shared/schemas.ts";
import { isUuid } from "../../shared/uuid.ts";
import {
  BUILD_FAULTS,
  EXPORT_FORMATS,
  EXPORT_JOB_ERROR_CODES,
  EXPORT_JOB_STATUSES,
} from "../../shared/vocabulary.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { type ExportJobRow, findVisibleExportJob, type VisibleExportJobRow } from "../../sql/exports/jobs.ts";
import type { Caller } from "../http/caller.ts";
import { requestContext } from "../http/request_context.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { requireVisible } from "../http/require_visible.ts";
import { EXAMPLE_AS_OF } from "./export_request.ts";
import { Visibility } from "./manifest_schema.ts";

/** Example of a queued job for the OpenAPI document. */
export const QUEUED_JOB = {
  id: "4b6a3f4e-2c71-4d0a-8f5e-1d2c3b4a5f60",
  number: 12,
  status: "queued",
  format: "ndjson",
  asOf: EXAMPLE_AS_OF,
  createdAt: EXAMPLE_AS_OF,
  requestedBy: "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c11",
  organizationId: "0b9b7f0a-6a2e-4b1c-8b0e-6c3a0e6b7d21",
  visibility: toVisibility({}),
  attempt: 0,
  progress: { projectsDone: 0, projectsTotal: 0, rowsWritten: 0, bytesWritten: 0 },
};

/** Example of a finished job for the OpenAPI document. */
export const READY_JOB = {
  ...QUEUED_JOB,
  status: "ready",
  attempt: 1,
  progress: { projectsDone: 2, projectsTotal: 2, rowsWritten: 1920, bytesWritten: 182_400 },
  startedAt: "2026-11-20T10:00:01.000Z",
  readyAt: "2026-11-20T10:05:00.000Z",
  finishedAt: "2026-11-20T10:05:00.000Z",
  expiresAt: "2026-11-23T10:05:00.000Z",
  artifact: {
    fileName: orgExportFileName({ slug: "demo", asOf: EXAMPLE_AS_OF }),
    bytes: 182_400,
    sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  },
};

/** Schema of a job in responses. Fields that do not apply yet are omitted. */
export const ExportJob = Type.Object(
  {
    id: Uuid(),
    number: Type.Integer({ minimum: 0, description: "Numbers the organization's jobs from 1" }),
    status: oneOf(EXPORT_JOB_STATUSES),
    format: oneOf(EXPORT_FORMATS),
    asOf: Instant({
      description: "The cutoff: rows created later are excluded. Default: about the time of queueing",
    }),
    createdAt: Instant(),
    requestedBy: Uuid({ description: "The user who queued the job" }),
    organizationId: Uuid(),
    visibility: Visibility,
    attempt: Type.Integer({
      minimum: 0,
      description: "Number of the current build attempt, at most 3; 0 before the first",
    }),
    progress: Type.Object({
      projectsDone: Natural,
      projectsTotal: Natural,
      rowsWritten: Natural,
      bytesWritten: Natural,
    }),
    since: Type.Optional(
      Instant({ description: "Set for an increment: only rows that changed after this time" }),
    ),
    waitingFor: Type.Optional(
      oneOf(BUILD_FAULTS, {
        description: "Set while a queued job waits because the artifact storage or the database failed",
      }),
    ),
    retryAt: Type.Optional(Instant({ description: "When a job with `waitingFor` is tried again" })),
    startedAt: Type.Optional(Instant()),
    readyAt: Type.Optional(Instant()),
    expiresAt: Type.Optional(Instant({ description: "When the file is deleted" })),
    finishedAt: Type.Optional(Instant()),
    artifact: Type.Optional(Type.Object({ fileName: Text, bytes: Natural, sha256: Text })),
    errorCode: Type.Optional(oneOf(EXPORT_JOB_ERROR_CODES)),
    errorMessage: Type.Optional(Text),
  },
  { title: "ExportJob", examples: [READY_JOB] },
);
export type ExportJob = Static<typeof ExportJob>;

/** Path parameter of a job. The schema accepts any value, because an invalid id gets a 404. */
export const JobParams = {
  job_id: Type.Unsafe<string>(
    Type.Any({ type: "string", format: "uuid", description: "The job's id", examples: [QUEUED_JOB.id] }),
  ),
};

/**
 * Finds a job in any of the caller's organizations. Throws EXPORT_JOB_NOT_FOUND for a missing job or a job of another
 * organization, and the error of `policy`.
 */
export async function requireExportJob(
  sql: Sql,
  access: {
    caller: Caller;
    request: Request;
    jobId: string;
    policy: (facts: Pick<ExportFacts, "credential" | "role">) => Verdict;
  },
): Promise<VisibleExportJobRow> {
  const { userId, credential } = access.caller;
  const orgId = credential.type === "key" ? credential.orgId : null;
  const job = requireVisible(
    isUuid(access.jobId) ? await findVisibleExportJob(sql, { id: access.jobId, userId, orgId }) : null,
    () => new ApiError("EXPORT_JOB_NOT_FOUND"),
  );
  requestContext(access.request).orgId = job.orgId;
  requireAllowed(maySeeOrg(credential, { ...job, slug: job.orgSlug }));
  requireAllowed(access.policy({ credential, role: job.role }));
  return job;
}

export function presentExportJob(row: ExportJobRow): ExportJob {
  return {
    id: row.id,
    number: row.number,
    status: row.status,
    format: row.format,
    asOf: row.asOf,
    createdAt: row.createdAt,
    requestedBy: row.requestedBy,
    organizationId: row.orgId,
    visibility: visibilityOf(row),
    attempt: row.attempt,
    progress: {
      projectsDone: row.projectsDone,
      projectsTotal: row.projectsTotal,
      rowsWritten: row.rowsWritten,
      bytesWritten: row.bytesWritten,
    },
    ...whatApplies(row),
  };
}

/** Returns the optional fields that are not null. */
function whatApplies(row: ExportJobRow): Partial<ExportJob> {
  const { artifactFileName: fileName, artifactBytes: bytes, artifactSha256: sha256 } = row;
  const isWaiting = row.status === "queued" && row.waitingFor !== null && row.retryAt !== null;
  const fields = {
    since: row.since,
    ...(isWaiting ? { waitingFor: row.waitingFor, retryAt: row.retryAt } : {}),
    startedAt: row.startedAt,
    readyAt: row.readyAt,
    expiresAt: row.expiresAt,
    finishedAt: row.finishedAt,
    artifact: fileName === null || bytes === null || sha256 === null ? null : { fileName, bytes, sha256 },
    errorCode: row.errorCode,
    errorMessage: row.errorMessage,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
