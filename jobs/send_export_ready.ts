/** Job `send_export_ready`: mails the requester of an organization export that it is ready. */
import type { JobPayloads } from "../shared/background_jobs.ts";
import { formatBytes } from "../shared/format_bytes.ts";
import { FORMAT_NAMES } from "../shared/vocabulary.ts";
import { findMemberRole } from "../sql/accounts/organization_members.ts";
import { findOrgById } from "../sql/accounts/orgs.ts";
import { findUser } from "../sql/accounts/users.ts";
import { retryOnDatabaseFault } from "../sql/connection/database_fault.ts";
import type { Sql } from "../sql/connection/pool.ts";
import {
  type ExportJobRow,
  findUnmailedExportJob,
  lockExportMail,
  markExportJobMailed,
} from "../sql/exports/jobs.ts";
import { completeJob } from "../sql/job_queue.ts";
import { composeMail, inWords, subjectName } from "./compose_mail.ts";
import { type MailMessage, sendMail } from "./mailer.ts";
import type { RunnerDeps } from "./runner_deps.ts";

/**
 * Sends the mail, unless it was sent before or is obsolete. Throws if the queue should retry. A copy of the database has the
 * same mails in its queue, so mails about files in another database's store are not sent.
 *
 * The mail is sent once, as far as SMTP allows: the mail server and the database cannot commit in one step. One process at a
 * time works on a job's mail. It records the server's acceptance in the next statement, or as soon as the database is
 * available again. The mail is sent twice only if the process dies between these two steps. Both mails have the same
 * Message-ID, so most mailboxes show only one. Recording the mail before sending it could lose the mail.
 */
export async function sendExportReady(
  deps: RunnerDeps,
  { exportJobId }: JobPayloads["send_export_ready"],
): Promise<void> {
  const log = deps.log.child({ exportJobId });
  await deps.owner.require();
  // The file is checked before the transaction, which must not wait for the storage.
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
        const sending = { event: "export_mail", signal: deps.shutdownSignal };
        mail.isTaken = sendMail({ ...deps, log: log.child({ userId: job.requestedBy }) }, message, sending);
        if (await mail.isTaken) await markExportJobMailed(tx, exportJobId);
      } else {
        log.info({ event: "export_mail.skipped", userId: job?.requestedBy }, "the mail is no longer wanted");
      }
      await completeJob(tx, deps.boss, { id: exportJobId, name: "send_export_ready" });
    });
  } catch (error) {
    // A lost connection ends the transaction while the mail server may still be processing the mail.
    if (await mail.isTaken?.catch(() => false)) {
      await retryOnDatabaseFault(() => markExportJobMailed(deps.sql, exportJobId), deps.shutdownSignal);
    }
    throw error;
  }
}

/** Returns whether the job's file exists and its mail is still to be sent. */
async function isFileThere({ sql, store }: RunnerDeps, exportJobId: string): Promise<boolean> {
  const job = await findUnmailedExportJob(sql, exportJobId);
  return job?.artifactKey != null && (await store.exists(job.artifactKey));
}

/**
 * Returns the mail. Null if the requester's account is deleted or disabled, or if the requester is no longer a member. The
 * mail links to the dashboard, which requires signing in. It contains no file and no credential.
 */
async function compose(
  sql: Sql,
  { config: { publicUrl } }: RunnerDeps,
  job: ExportJobRow,
): Promise<MailMessage | null> {
  const { id, orgId, requestedBy: userId, since, expiresAt, artifactBytes } = job;
  if (expiresAt === null || artifactBytes === null) return null;
  const user = await findUser(sql, userId);
  const org = await findOrgById(sql, orgId);
  if (!user || user.disabledAt !== null || !org) return null;
  if (!(await findMemberRole(sql, { orgId, userId }))) return null;
  const content = composeMail({
    subject: `Your export of ${subjectName(org.name)} is ready`,
    intro: [["Your export of ", { name: org.name }, " is ready."]],
    button: { label: "Open the export", url: `${publicUrl}/dashboard/exports?job=${id}` },
    facts: [
      ["Contents", `${counted(job.rowsWritten, "row")} of ${counted(job.projectsDone, "project")}`],
      ["Format", `${FORMAT_NAMES[job.format]}, in a ZIP file`],
      ["Size", `${formatBytes(artifactBytes)} (${counted(artifactBytes, "byte")})`],
      ...(since === null ? [] : [["Only changes since", inWords(since)] as const]),
      ["As of", inWords(job.asOf)],
      ["Available until", inWords(expiresAt)],
    ],
    notes: ["You are receiving this email because you started the export. Sign in to download it."],
  });
  return { id, to: user.email, ...content };
}

const number = new Intl.NumberFormat("en-US");

function counted(count: number, noun: string): string {
  return `${number.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}
