/**
 * Table `export_jobs`: organization exports, from queued to expired or failed. Every change of status checks the current status.
 */
import type { ExportVisibility } from "../../shared/exports/datasets.ts";
import type {
  BuildFault,
  ExportFormat,
  ExportJobErrorCode,
  ExportJobStatus,
  OrgRole,
} from "../../shared/vocabulary.ts";
import { columnList, firstRow, firstValue, onlyRow, type Sql } from "../connection/pool.ts";
import { UNLIMITED_TRANSACTION } from "../connection/snapshot.ts";
import { tryLockTransaction } from "../locks.ts";
import { isPastExpiry } from "./export_expiry.ts";

/** The columns of an `ExportJobRow`. */
export const EXPORT_JOB_COLUMNS = columnList(`
  id, number, org_id, requested_by, status, format, as_of, since, include_deleted, include_archived,
  include_superseded, include_resolved, attempt, waiting_for, retry_at, faults, projects_done,
  projects_total, rows_written, bytes_written, artifact_key, artifact_file_name, artifact_bytes,
  artifact_sha256, error_code, error_message, created_at, started_at, ready_at, expires_at, finished_at
`);

export interface ExportJobProgress {
  projectsDone: number;
  projectsTotal: number;
  rowsWritten: number;
  /** Size of the archive so far, in bytes. */
  bytesWritten: number;
}

export interface ExportJobRow extends ExportVisibility, ExportJobProgress {
  id: string;
  /** Number of the job within its organization, from 1. */
  number: number;
  orgId: string;
  requestedBy: string;
  status: ExportJobStatus;
  format: ExportFormat;
  asOf: string;
  /** Start of an increment; null for a full export. */
  since: string | null;
  /** Number of the current attempt; 0 before the first build. */
  attempt: number;
  /** The fault that delays a queued job until `retryAt`. Meaningless in other statuses. */
  waitingFor: BuildFault | null;
  retryAt: string | null;
  /** Number of attempts that a fault of storage or database has stopped. `attempt` does not count them. */
  faults: number;
  /** Key of the file in the artifact store. All artifact fields are set when the job becomes ready. */
  artifactKey: string | null;
  artifactFileName: string | null;
  artifactBytes: number | null;
  artifactSha256: string | null;
  errorCode: ExportJobErrorCode | null;
  errorMessage: string | null;
  createdAt: string;
  startedAt: string | null;
  readyAt: string | null;
  expiresAt: string | null;
  finishedAt: string | null;
}

/** A job with the membership of the user who reads it. */
export interface VisibleExportJobRow extends ExportJobRow {
  /** The user's role in the organization. */
  role: OrgRole;
  orgSlug: string;
  requireSecondFactor: boolean;
  /** Whether `expires_at` has passed, even if the sweep has not run yet. */
  isPastExpiry: boolean;
}

/** Returns the organization's queued or running job; null if it has no such job. */
export async function findActiveExportJob(sql: Sql, orgId: string): Promise<ExportJobRow | null> {
  return firstRow(sql<ExportJobRow[]>`
    select ${sql(EXPORT_JOB_COLUMNS)}
    from export_jobs
    where org_id = ${orgId} and status in ('queued', 'running')`);
}

/** Returns a job of the user's organizations, or only of `orgId` if it is set; null if none of them has such a job. */
export async function findVisibleExportJob(
  sql: Sql,
  key: { id: string; userId: string; orgId: string | null },
): Promise<VisibleExportJobRow | null> {
  return firstRow(sql<VisibleExportJobRow[]>`
    select ${sql(EXPORT_JOB_COLUMNS.map((column) => `j.${column}`))}, m.role, o.slug as org_slug, o.require_second_factor,
      coalesce(${isPastExpiry(sql)}, false) as is_past_expiry
    from export_jobs as j
    join organization_members as m on m.org_id = j.org_id and m.user_id = ${key.userId}
    join organizations as o on o.id = j.org_id
    where j.id = ${key.id} and (${key.orgId}::uuid is null or j.org_id = ${key.orgId})`);
}

/**
 * Returns the seconds until the organization may queue another job: 0 unless it has queued `limit` jobs in the last 60
 * minutes. Jobs that were canceled before their first build do not count.
 */
export async function findExportJobWait(sql: Sql, key: { orgId: string; limit: number }): Promise<number> {
  const [row] = await sql<{ waitSeconds: number }[]>`
    select ceil(extract(epoch from created_at + interval '60 minutes' - now()))::int as wait_seconds
    from export_jobs
    where org_id = ${key.orgId} and created_at > now() - interval '60 minutes'
      and (error_code is distinct from 'CANCELED' or started_at is not null)
    order by created_at desc, id desc
    offset ${key.limit - 1}
    limit 1`;
  return row ? Math.max(1, row.waitSeconds) : 0;
}

/** Returns a page of the organization's jobs, newest first, and the total number. */
export async function listExportJobs(
  sql: Sql,
  page: { orgId: string; limit: number; offset: number },
): Promise<{ rows: ExportJobRow[]; total: number }> {
  const [counted] = await sql<[{ total: number }]>`
    select count(*) as total from export_jobs where org_id = ${page.orgId}`;
  const rows = await sql<ExportJobRow[]>`
    select ${sql(EXPORT_JOB_COLUMNS)}
    from export_jobs
    where org_id = ${page.orgId}
    order by created_at desc, id desc
    limit ${page.limit}
    offset ${page.offset}`;
  return { rows: [...rows], total: counted.total };
}

export interface NewExportJob extends ExportVisibility {
  orgId: string;
  requestedBy: string;
  format: ExportFormat;
  asOf: string;
  since: string | null;
}

/**
 * Inserts a queued job. Lock the organization first, so that no two jobs get the same number. The organization must not have
 * an active job.
 */
export async function insertExportJob(sql: Sql, job: NewExportJob): Promise<ExportJobRow> {
  return onlyRow(sql<[ExportJobRow]>`
    insert into export_jobs (
      number, org_id, requested_by, format, as_of, since,
      include_deleted, include_archived, include_superseded, include_resolved
    )
    values (
      (select coalesce(max(number), 0) + 1 from export_jobs where org_id = ${job.orgId}),
      ${job.orgId}, ${job.requestedBy}, ${job.format}, ${job.asOf}, ${job.since},
      ${job.includeDeleted}, ${job.includeArchived}, ${job.includeSuperseded}, ${job.includeResolved}
    )
    returning ${sql(EXPORT_JOB_COLUMNS)}`);
}

/** Locks a job until the transaction ends, and returns its status; null if there is no such job. */
export async function lockExportJobStatus(tx: Sql, id: string): Promise<ExportJobStatus | null> {
  return firstValue(tx<{ status: ExportJobStatus }[]>`
    select status
    from export_jobs
    where id = ${id}
    for no key update`);
}

/** Cancels a job; null if it has finished. A running build notices when it next reports its progress. */
export async function markExportJobCanceled(sql: Sql, id: string): Promise<ExportJobRow | null> {
  return firstRow(sql<ExportJobRow[]>`
    update export_jobs
    set status = 'failed', error_code = 'CANCELED', finished_at = now(), waiting_for = null, retry_at = null,
      error_message = case
        when started_at is null then 'Canceled before its build began'
        else 'Canceled after its build had begun'
      end
    where id = ${id} and status in ('queued', 'running')
    returning ${sql(EXPORT_JOB_COLUMNS)}`);
}

/**
 * Takes the lock for sending the job's mail until the transaction ends; false if another transaction holds the lock. A mail server
 * may take minutes to respond. The transaction therefore has no time limit, and the lock is an advisory lock that no other session
 * waits for. PostgreSQL releases the lock if the process crashes.
 */
export async function lockExportMail(tx: Sql, exportJobId: string): Promise<boolean> {
  await tx`select ${UNLIMITED_TRANSACTION}`;
  return tryLockTransaction(tx, { name: "export_mail", id: exportJobId });
}

/** Returns the job if it is ready, has not expired, and its mail has not been sent; null otherwise. */
export async function findUnmailedExportJob(sql: Sql, id: string): Promise<ExportJobRow | null> {
  return firstRow(sql<ExportJobRow[]>`
    select ${sql(EXPORT_JOB_COLUMNS)}
    from export_jobs
    where id = ${id} and status = 'ready' and not ${isPastExpiry(sql)} and mailed_at is null`);
}

/** Records that a mail server has accepted the job's mail. */
export async function markExportJobMailed(sql: Sql, id: string): Promise<void> {
  await sql`
    update export_jobs
    set mailed_at = clock_timestamp()
    where id = ${id} and mailed_at is null`;
}
