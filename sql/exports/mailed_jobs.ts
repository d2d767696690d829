/** Table `export_jobs` as the mail sees it: exports that are ready, and whether their mail is out. */

import type { Sql } from "../connection/pool.ts";
import { tryLockRow } from "../locks.ts";
import { EXPORT_JOB_COLUMNS, type ExportJobRow } from "./jobs.ts";

/**
 * Makes this transaction the only one that mails about the job, for as long as it is open; false when another is at
 * it. Nobody waits for this lock, though a mail server may take minutes to answer: it is no row's, it is only tried,
 * and it goes with the process that dies while it holds it.
 */
export async function lockExportMail(tx: Sql, exportJobId: string): Promise<boolean> {
  await tx`set local idle_in_transaction_session_timeout = 0`;
  return tryLockRow(tx, { name: "export_mail", id: exportJobId });
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
