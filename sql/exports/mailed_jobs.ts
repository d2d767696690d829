/** Table `export_jobs` for mails: exports that are ready, and whether their mail has been sent. */

import { firstRow, type Sql } from "../connection/pool.ts";
import { tryLockRow } from "../locks.ts";
import { EXPORT_JOB_COLUMNS, type ExportJobRow } from "./jobs.ts";

/**
 * Makes this transaction the only one that sends the mail of the job, while it is open; false if another one holds the
 * lock. A mail server may take minutes to answer, so this is an advisory lock that is only tried: no other session waits
 * for it, and PostgreSQL releases it if the process dies.
 */
export async function lockExportMail(tx: Sql, exportJobId: string): Promise<boolean> {
  await tx`set local idle_in_transaction_session_timeout = 0`;
  return tryLockRow(tx, { name: "export_mail", id: exportJobId });
}

/** Returns a job that is ready and not expired, and whose mail has not been sent; null otherwise. */
export async function findUnmailedExportJob(sql: Sql, id: string): Promise<ExportJobRow | null> {
  return firstRow(sql<ExportJobRow[]>`
    select ${sql(EXPORT_JOB_COLUMNS)}
    from export_jobs
    where id = ${id} and status = 'ready' and expires_at > now() and mailed_at is null`);
}

/** Records that a mail server has accepted the job's mail. */
export async function markExportJobMailed(sql: Sql, id: string): Promise<void> {
  await sql`
    update export_jobs
    set mailed_at = clock_timestamp()
    where id = ${id} and mailed_at is null`;
}
