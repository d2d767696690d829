/** Finds an export job that the caller can see, and presents it. */
import { ApiError } from "../../shared/errors.ts";
import type { ExportFacts, Verdict } from "../../shared/policy.ts";
import { isUuid } from "../../shared/uuid.ts";
import type { BuildFault } from "../../shared/vocabulary.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import {
  type ExportJobRow,
  findReadableExportJob,
  type ReadableExportJobRow,
} from "../../sql/exports/jobs.ts";
import type { Caller } from "../http/caller.ts";
import { requestContext } from "../http/request_context.ts";
import { requireAllowed } from "../http/require_allowed.ts";

/**
 * Finds a job in any of the caller's organizations. Throws EXPORT_JOB_NOT_FOUND, also for jobs of other organizations,
 * then the error of `policy`.
 */
export async function requireExportJob(
  sql: Sql,
  given: {
    caller: Caller;
    request: Request;
    jobId: string;
    policy: (facts: Pick<ExportFacts, "credential" | "role">) => Verdict;
  },
): Promise<ReadableExportJobRow> {
  const { userId, credential } = given.caller;
  const orgId = credential.type === "key" ? credential.orgId : null;
  const job = isUuid(given.jobId)
    ? await findReadableExportJob(sql, { id: given.jobId, userId, orgId })
    : null;
  if (!job) throw new ApiError("EXPORT_JOB_NOT_FOUND");
  requestContext(given.request).orgId = job.orgId;
  requireAllowed(given.policy({ credential, role: job.role }));
  return job;
}

/** Presents a job; fields that do not apply yet are omitted. */
export interface ExportJob {
  id: string;
  number: number;
  status: ExportJobRow["status"];
  format: ExportJobRow["format"];
  asOf: string;
  createdAt: string;
  requestedBy: string;
  organizationId: string;
  visibility: {
    includeDeleted: boolean;
    includeArchived: boolean;
    includeSuperseded: boolean;
    includeResolved: boolean;
  };
  attempt: number;
  progress: { projectsDone: number; projectsTotal: number; rowsWritten: number; bytesWritten: number };
  since?: string;
  waitingFor?: BuildFault;
  retryAt?: string;
  startedAt?: string;
  readyAt?: string;
  expiresAt?: string;
  finishedAt?: string;
  artifact?: { fileName: string; bytes: number; sha256: string };
  errorCode?: string;
  errorMessage?: string;
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
    visibility: {
      includeDeleted: row.includeDeleted,
      includeArchived: row.includeArchived,
      includeSuperseded: row.includeSuperseded,
      includeResolved: row.includeResolved,
    },
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

function whatApplies(row: ExportJobRow) {
  const { artifactFileName: fileName, artifactBytes: bytes, artifactSha256: sha256 } = row;
  return {
    ...(row.since === null ? {} : { since: row.since }),
    ...(row.status !== "queued" || row.waitingFor === null || row.retryAt === null
      ? {}
      : { waitingFor: row.waitingFor, retryAt: row.retryAt }),
    ...(row.startedAt === null ? {} : { startedAt: row.startedAt }),
    ...(row.readyAt === null ? {} : { readyAt: row.readyAt }),
    ...(row.expiresAt === null ? {} : { expiresAt: row.expiresAt }),
    ...(row.finishedAt === null ? {} : { finishedAt: row.finishedAt }),
    ...(fileName === null || bytes === null || sha256 === null
      ? {}
      : { artifact: { fileName, bytes, sha256 } }),
    ...(row.errorCode === null ? {} : { errorCode: row.errorCode }),
    ...(row.errorMessage === null ? {} : { errorMessage: row.errorMessage }),
  };
}
