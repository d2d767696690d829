/** Table `export_jobs` as the mail sees it: exports that are ready, and whether their mail is out. */
import { EXPORT_JOB_COLUMNS, type ExportJobRow } from "./export_jobs.ts";
import type { Sql } from "./pool.ts";

/**
 * Makes this transaction the only one that mails about the job, for as long as it is open; false when another is at
 * it. The lock is no row's: whoever moves the row need not wait for a mail server.
 */
export async function lockExportMail(sql: Sql, exportJobId: string): Promise<boolean> {
  const [row] = await sql<[{ isLocked: boolean }]>`
    select
      pg_try_advisory_xact_lock(hashtextextended(${`export_mail ${exportJobId}`}, 0)) as is_locked,
      -- A mail server may take minutes to answer.
      set_config('idle_in_transaction_session_timeout', '0', true)`;
  return row.isLocked;
}

/** A job that is ready, that can still be downloaded and whose mail is not out; `null` for any other. */
export async function findUnmailedExportJob(sql: Sql, id: string): Promise<ExportJobRow | null> {
  const [row] = await sql<ExportJobRow[]>`
    select ${sql(EXPORT_JOB_COLUMNS)}
    from export_jobs
    where id = ${id} and status = 'ready' and expires_at > now() and mailed_at is null`;
  return row ?? null;
}

/** Notes that a mail server has taken the job's mail. */
export async function markExportJobMailed(sql: Sql, id: string): Promise<void> {
  await sql`
    update export_jobs
    set mailed_at = clock_timestamp()
    where id = ${id} and mailed_at is null`;
}
