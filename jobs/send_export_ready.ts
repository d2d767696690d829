/** Job `send_export_ready`: mails the requester of an organization export that it is ready. */
import type { ArtifactStore } from "../shared/artifacts/store.ts";
import type { JobPayloads } from "../shared/jobs.ts";
import type { Log } from "../shared/process/log.ts";
import { findMemberRole, findOrgById } from "../sql/accounts/orgs.ts";
import { findUser } from "../sql/accounts/users.ts";
import { retryOnDatabaseFault } from "../sql/connection/database_fault.ts";
import type { Pool, Sql } from "../sql/connection/pool.ts";
import {
  type ExportJobRow,
  findUnmailedExportJob,
  lockExportMail,
  markExportJobMailed,
} from "../sql/exports/jobs.ts";
import { type Boss, completeJob } from "../sql/queue.ts";
import { exportReadyMessage } from "./export_ready_message.ts";
import { MAIL_STORED, MailError, type Mailer, type MailMessage } from "./mail.ts";
import type { RunnerMetrics } from "./runner_metrics.ts";
import type { StoreOwner } from "./store_owner.ts";

export interface MailDeps {
  /** Base URL of links. */
  config: { publicUrl: string };
  sql: Pool;
  boss: Boss;
  /** The store that must have the file. */
  store: ArtifactStore;
  owner: StoreOwner;
  mailer: Mailer;
  log: Log;
  metrics: RunnerMetrics;
  /** Aborted when the process can no longer wait for a mail server. */
  shutdownSignal: AbortSignal;
}

/**
 * Sends the mail, unless it is already sent or obsolete. Throws if the queue should retry. A copy of the database has
 * the same mails in its queue, so mails about files in another database's store are not sent.
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
  // Before the transaction, which must not wait for the storage.
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
    // A lost connection ends the transaction while the mail server may still be working.
    if (await mail.isTaken?.catch(() => false)) {
      await retryOnDatabaseFault(() => markExportJobMailed(deps.sql, exportJobId), deps.shutdownSignal);
    }
    throw error;
  }
}

/** Returns false if there is no file, or nobody left to mail. */
async function isFileThere({ sql, store }: MailDeps, exportJobId: string): Promise<boolean> {
  const job = await findUnmailedExportJob(sql, exportJobId);
  return job?.artifactKey != null && (await store.exists(job.artifactKey));
}

/** Returns the mail; null if the requester's account is deleted or disabled, or they are no longer a member. */
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
  const { id, format, asOf, since, rowsWritten: rows, projectsDone: projects } = job;
  return exportReadyMessage(
    { id, orgName: org.name, format, asOf, since, expiresAt, rows, projects, bytes: artifactBytes },
    { to: user.email, publicUrl },
  );
}

/** Returns false and logs if the server will never accept the mail; throws if a retry may succeed. */
async function isTaken(deps: MailDeps, job: ExportJobRow, message: MailMessage): Promise<boolean> {
  const { mailer, log, metrics, shutdownSignal } = deps;
  const userId = job.requestedBy;
  try {
    const result = await mailer.send(message, shutdownSignal);
    metrics.mails.inc({ result });
    if (result === "stored") log.info({ event: "mail.stored", userId }, MAIL_STORED);
    else log.info({ event: "export_mail.sent", userId }, "sent the mail that an export is ready");
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
