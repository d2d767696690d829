/**
 * Job `delete_old_records`: deletes what is past its retention: ended sessions, mails about accounts whose links have
 * ended, sign-in attempts that no longer limit anyone, sign-ins without their second factor, idempotency keys, invitations,
 * audit entries, recorded executions, events, finished export jobs, catalog syncs, replaced secrets of webhooks and the
 * log of tracker rows. It also ends organizations that their owners deleted. It may stop anywhere, and two may run at once.
 */
import { deleteOldAccountMails } from "../sql/accounts/account_mails.ts";
import { deleteOldAuditEntries } from "../sql/accounts/audit_chain.ts";
import { insertAuditEntry } from "../sql/accounts/audit_log.ts";
import { queueDeletionNotices } from "../sql/accounts/deletion_notices.ts";
import { deleteExpiredChallenges } from "../sql/accounts/factor_challenges.ts";
import { deleteOldIdempotencyKeys } from "../sql/accounts/idempotency_keys.ts";
import { deleteOldInvitations } from "../sql/accounts/invitations.ts";
import { deleteIdleLoginAttempts } from "../sql/accounts/login_attempts.ts";
import { deleteOldLoginDelays } from "../sql/accounts/login_delays.ts";
import { lockDueOrg, markOrgDeleted } from "../sql/accounts/organization_deletion.ts";
import { deleteEndedSessions } from "../sql/accounts/sessions.ts";
import { deleteOldSignInNetworks } from "../sql/accounts/sign_in_networks.ts";
import type { Sql } from "../sql/connection/pool.ts";
import { deleteOldExecutions } from "../sql/definitions/executions.ts";
import { deleteOldEvents } from "../sql/events/event_feed.ts";
import { deleteOldExportJobs } from "../sql/exports/export_retention.ts";
import { deleteOldTrackerChanges } from "../sql/exports/tracker_changes.ts";
import { deleteOldCatalogSyncs } from "../sql/models/catalog_syncs.ts";
import { cancelJob } from "../sql/queue.ts";
import { deleteExpiredSecrets } from "../sql/webhooks/retired_secrets.ts";
import type { RunnerDeps } from "./runner_deps.ts";

/** Rows per statement, which locks them for some milliseconds. */
const BATCH = 1000;

/** Deletes in batches until nothing is left; `signal` stops it between two batches. */
export async function deleteOldRecords(
  { sql, boss, log, config }: Pick<RunnerDeps, "config" | "sql" | "boss" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const all = async (deleteBatch: (sql: Sql, limit: number) => Promise<number>): Promise<number> => {
    let total = 0;
    while (true) {
      signal.throwIfAborted();
      const deleted = await deleteBatch(sql, BATCH);
      total += deleted;
      if (deleted < BATCH) return total;
    }
  };
  const olderThan = (
    days: number,
    deleteBatch: (sql: Sql, batch: { days: number; limit: number }) => Promise<number>,
  ): Promise<number> => all((_, limit) => deleteBatch(sql, { days, limit }));
  const deleted = {
    sessions: await olderThan(config.sessionRetentionDays, deleteEndedSessions),
    accountMails: await all(deleteOldAccountMails),
    loginAttempts: await all(deleteIdleLoginAttempts),
    loginDelays: await all(deleteOldLoginDelays),
    factorChallenges: await all(deleteExpiredChallenges),
    signInNetworks: await all(deleteOldSignInNetworks),
    idempotencyKeys: await all(deleteOldIdempotencyKeys),
    invitations: await all(deleteOldInvitations),
    auditEntries: await olderThan(config.auditRetentionDays, deleteOldAuditEntries),
    executions: await olderThan(config.executionRetentionDays, deleteOldExecutions),
    events: await olderThan(config.eventRetentionDays, deleteOldEvents),
    exportJobs: await olderThan(config.exportJobRetentionDays, deleteOldExportJobs),
    catalogSyncs: await all(deleteOldCatalogSyncs),
    webhookSecrets: await all(deleteExpiredSecrets),
    trackerChanges: await all(deleteOldTrackerChanges),
    // Last: one that fails stops nothing else.
    organizations: await deleteOrganizations({ sql, boss }, signal),
  };
  const isNews = Object.values(deleted).some((count) => count > 0);
  log[isNews ? "info" : "debug"]({ event: "retention.swept", ...deleted }, "deleted old records");
}

/**
 * Deletes the organizations whose seven days are over, each in one transaction: if the process dies, the next sweep finds
 * it as it was. An owner who restores one at the same time is either first, or too late. Returns how many it deleted;
 * `signal` stops it between two.
 */
export async function deleteOrganizations(
  { sql, boss }: Pick<RunnerDeps, "sql" | "boss">,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  while (true) {
    signal.throwIfAborted();
    if (!(await sql.begin((tx) => deleteNext(tx, boss)))) return count;
    count += 1;
  }
}

async function deleteNext(tx: Sql, boss: RunnerDeps["boss"]): Promise<boolean> {
  const org = await lockDueOrg(tx);
  if (!org) return false;
  // While its owners are members.
  await queueDeletionNotices(tx, boss, { org, actorUserId: null, about: "deleted" });
  const { jobIds, members, projects } = await markOrgDeleted(tx, org.id);
  for (const id of jobIds) await cancelJob(tx, boss, { id, name: "build_org_export" });
  await insertAuditEntry(tx, {
    actorType: "service",
    action: "org.delete",
    subject: { type: "organization", id: org.id },
    orgId: org.id,
    details: { slug: org.slug, members, projects },
  });
  return true;
}
