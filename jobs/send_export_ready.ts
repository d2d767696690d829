/** Job `send_export_ready`: tells whoever asked for an organization export that it can be downloaded. */
import type { ArtifactStore } from "../shared/artifacts/store.ts";
import type { JobPayloads } from "../shared/jobs.ts";
import type { Log } from "../shared/process/log.ts";
import { findMemberRole, findOrgById } from "../sql/accounts/orgs.ts";
import { findUser } from "../sql/accounts/users.ts";
import type { Pool, Sql } from "../sql/connection/pool.ts";
import { retryOnDisconnect } from "../sql/connection/retry_on_disconnect.ts";
import type { ExportJobRow } from "../sql/exports/jobs.ts";
import { findUnmailedExportJob, lockExportMail, markExportJobMailed } from "../sql/exports/mailed_jobs.ts";
import { type Boss, completeJob } from "../sql/queue.ts";
import { exportReadyMessage } from "./export_ready_message.ts";
import { MailError, type Mailer, type MailMessage } from "./mail.ts";
import type { RunnerMetrics } from "./runner_metrics.ts";
import type { StoreOwner } from "./store_owner.ts";

export interface MailDeps {
  /** Only where links lead. */
  config: { publicUrl: string };
  sql: Pool;
  boss: Boss;
  /** Where the file has to be that the mail is about. */
  store: ArtifactStore;
  owner: StoreOwner;
  mailer: Mailer;
  log: Log;
  metrics: RunnerMetrics;
  /** Aborted when the process cannot wait for a mail server any longer. */
  shutdownSignal: AbortSignal;
}

/**
 * Sends the mail, unless it is out or of no use any more. Throws when the queue is to try again. A copy of the database
 * has the same mails in its queue: those about files of another's store, or of none, are not sent.
 *
 * Once is as far as SMTP lets it be: server and database cannot agree in one step. One process at a time is at a
 * job's mail, and writes down that the server has taken it in the very next statement, or as soon as the database is
 * back. Only a process that dies between these two leaves a mail that will be sent again; it has the Message-ID of
 * the first, by which most mailboxes show one. To write it down before would lose the mail instead.
 */
export async function sendExportReady(
  deps: MailDeps,
  { exportJobId }: JobPayloads["send_export_ready"],
): Promise<void> {
  const log = deps.log.child({ exportJobId });
  await deps.owner.require();
  // Before the transaction: nothing is held while waiting for the storage.
  const hasFile = await isFileThere(deps, exportJobId);
  const mail: { isTaken?: Promise<boolean> } = {};
  try {
    await deps.sql.begin(async (tx) => {
      if (!(await lockExportMail(tx, exportJobId))) {
        throw new Error(`Cannot mail about export job "${exportJobId}": another process is sending it`);
      }
      const job = await findUnmailedExportJob(tx, exportJobId);
      const message = job && hasFile ? await compose(tx, deps, job) : null;
      if (job && message) {
        mail.isTaken = isTaken({ ...deps, log }, job, message);
        if (await mail.isTaken) await markExportJobMailed(tx, exportJobId);
      } else {
        log.info({ event: "export_mail.skipped", userId: job?.requestedBy }, "the mail is no longer wanted");
      }
      await completeJob(tx, deps.boss, { id: exportJobId, name: "send_export_ready" });
    });
  } catch (error) {
    // The transaction is over as soon as its connection is, while the mail server may still be at it.
    if (await mail.isTaken?.catch(() => false)) {
      await retryOnDisconnect(() => markExportJobMailed(deps.sql, exportJobId), deps.shutdownSignal);
    }
    throw error;
  }
}

/** False when there is no file, or none that anybody is still to be told of. */
async function isFileThere({ sql, store }: MailDeps, exportJobId: string): Promise<boolean> {
  const job = await findUnmailedExportJob(sql, exportJobId);
  return job?.artifactKey != null && (await store.exists(job.artifactKey));
}

/** The mail as its reader may have it now; `null` when the account is gone or disabled, or the membership gone. */
async function compose(
  sql: Sql,
  { config: { publicUrl } }: MailDeps,
  job: ExportJobRow,
): Promise<MailMessage | null> {
  const { orgId, requestedBy: userId, expiresAt, artifactBytes } = job;
  if (expiresAt === null || artifactBytes === null) return null;
  const user = await findUser(sql, userId);
  const org = await findOrgById(sql, orgId);
  if (!user || user.disabledAt !== null || !org) return null;
  if (!(await findMemberRole(sql, { orgId, userId }))) return null;
  const { id, format, asOf, rowsWritten: rows, projectsDone: projects } = job;
  return exportReadyMessage(
    { id, orgName: org.name, format, asOf, expiresAt, rows, projects, bytes: artifactBytes },
    { to: user.email, publicUrl },
  );
}

/** False when the server will never take it, which is logged and over; throws when it may later. */
async function isTaken(deps: MailDeps, job: ExportJobRow, message: MailMessage): Promise<boolean> {
  const { mailer, log, metrics, shutdownSignal } = deps;
  const userId = job.requestedBy;
  try {
    await mailer.send(message, shutdownSignal);
    metrics.mails.inc({ result: "sent" });
    log.info({ event: "export_mail.sent", userId }, "sent the mail that an export is ready");
    return true;
  } catch (error) {
    const isPermanent = error instanceof MailError && error.isPermanent;
    metrics.mails.inc({ result: isPermanent ? "rejected" : "failed" });
    const event = isPermanent ? "export_mail.refused" : "export_mail.failed";
    log.warn({ event, userId, err: error }, "a mail was not sent");
    if (isPermanent) return false;
    throw error;
  }
}
