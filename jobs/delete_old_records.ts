/**
 * Job `delete_old_records`: deletes what is past its retention: ended sessions, mails about accounts whose links have
 * ended, sign-in attempts that no longer limit anyone, sign-ins without their second factor, idempotency keys, invitations,
 * audit entries, recorded executions, events, finished export jobs, catalog syncs, replaced secrets of webhooks and the
 * log of tracker rows. It also ends organizations that their owners deleted. It may stop anywhere, and two may run at once.
 */
import type { Log } from "../shared/process/log.ts";
import { deleteOldAccountMails } from "../sql/accounts/account_mails.ts";
import { deleteOldAuditEntries } from "../sql/accounts/audit_chain.ts";
import { deleteExpiredChallenges } from "../sql/accounts/factor_challenges.ts";
import { deleteOldIdempotencyKeys } from "../sql/accounts/idempotency_keys.ts";
import { deleteOldInvitations } from "../sql/accounts/invitations.ts";
import { deleteIdleLoginAttempts } from "../sql/accounts/login_attempts.ts";
import { deleteOldLoginDelays } from "../sql/accounts/login_delays.ts";
import { deleteEndedSessions } from "../sql/accounts/sessions.ts";
import { deleteOldSignInNetworks } from "../sql/accounts/sign_in_networks.ts";
import type { Pool } from "../sql/connection/pool.ts";
import { deleteOldExecutions } from "../sql/definitions/executions.ts";
import { deleteOldEvents } from "../sql/events/event_feed.ts";
import { deleteOldExportJobs } from "../sql/exports/expiry.ts";
import { deleteOldTrackerChanges } from "../sql/exports/tracker_changes.ts";
import { deleteOldCatalogSyncs } from "../sql/models/catalog_syncs.ts";
import type { Boss } from "../sql/queue.ts";
import { deleteExpiredSecrets } from "../sql/webhooks/webhooks.ts";
import { deleteOrganizations } from "./delete_organizations.ts";

/** Rows per statement, which locks them for some milliseconds. */
const BATCH = 1000;

export interface RetentionDeps {
  sql: Pool;
  boss: Boss;
  log: Log;
  config: {
    auditRetentionDays: number;
    executionRetentionDays: number;
    eventRetentionDays: number;
    exportJobRetentionDays: number;
    sessionRetentionDays: number;
  };
}

/** Deletes in batches until nothing is left; `signal` stops it between two batches. */
export async function deleteOldRecords(
  { sql, boss, log, config }: RetentionDeps,
  signal: AbortSignal,
): Promise<void> {
  const deleted = {
    sessions: await deleteAll(
      () => deleteEndedSessions(sql, { days: config.sessionRetentionDays, limit: BATCH }),
      signal,
    ),
    accountMails: await deleteAll(() => deleteOldAccountMails(sql, BATCH), signal),
    loginAttempts: await deleteAll(() => deleteIdleLoginAttempts(sql, BATCH), signal),
    loginDelays: await deleteAll(() => deleteOldLoginDelays(sql, BATCH), signal),
    factorChallenges: await deleteAll(() => deleteExpiredChallenges(sql, BATCH), signal),
    signInNetworks: await deleteAll(() => deleteOldSignInNetworks(sql, BATCH), signal),
    idempotencyKeys: await deleteAll(() => deleteOldIdempotencyKeys(sql, BATCH), signal),
    invitations: await deleteAll(() => deleteOldInvitations(sql, BATCH), signal),
    auditEntries: await deleteAll(
      () => deleteOldAuditEntries(sql, { days: config.auditRetentionDays, limit: BATCH }),
      signal,
    ),
    executions: await deleteAll(
      () => deleteOldExecutions(sql, { days: config.executionRetentionDays, limit: BATCH }),
      signal,
    ),
    events: await deleteAll(
      () => deleteOldEvents(sql, { days: config.eventRetentionDays, limit: BATCH }),
      signal,
    ),
    exportJobs: await deleteAll(
      () => deleteOldExportJobs(sql, { days: config.exportJobRetentionDays, limit: BATCH }),
      signal,
    ),
    catalogSyncs: await deleteAll(() => deleteOldCatalogSyncs(sql, BATCH), signal),
    webhookSecrets: await deleteAll(() => deleteExpiredSecrets(sql, BATCH), signal),
    trackerChanges: await deleteAll(() => deleteOldTrackerChanges(sql, BATCH), signal),
    // Last: one that fails stops nothing else.
    organizations: await deleteOrganizations({ sql, boss }, signal),
  };
  const isNews = Object.values(deleted).some((count) => count > 0);
  log[isNews ? "info" : "debug"]({ event: "retention.swept", ...deleted }, "deleted old records");
}

async function deleteAll(deleteBatch: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let total = 0;
  while (true) {
    signal.throwIfAborted();
    const deleted = await deleteBatch();
    total += deleted;
    if (deleted < BATCH) return total;
  }
}
