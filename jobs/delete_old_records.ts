/**
 * Job `delete_old_records`: deletes what is past its retention (docs/operating.md, Growth), and ends organizations that
 * their owners deleted. It may stop anywhere, and two may run at once.
 */
import { deleteOldAuditEntries } from "../sql/accounts/audit_chain.ts";
import { insertAuditEntry } from "../sql/accounts/audit_log.ts";
import { lockDueOrg, markOrgDeleted, queueDeletionNotices } from "../sql/accounts/organization_deletion.ts";
import { listOwners } from "../sql/accounts/organization_members.ts";
import type { Sql } from "../sql/connection/pool.ts";
import { isDatabaseCopy } from "../sql/database_copy.ts";
import { deleteOldRows, listKeptRows, OLD_ROWS } from "../sql/delete_old_rows.ts";
import { deleteOldEvents } from "../sql/events/event_feed.ts";
import { deleteOldTrackerChanges } from "../sql/exports/tracker_changes.ts";
import { cancelJob } from "../sql/job_queue.ts";
import type { RunnerDeps } from "./runner_deps.ts";

/** Rows per statement, which locks them for some milliseconds. */
const BATCH = 1000;

/** Deletes in batches until nothing is left; `signal` stops it between two batches. */
export async function deleteOldRecords(
  { sql, boss, log, config }: Pick<RunnerDeps, "config" | "sql" | "boss" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const all = async (deleteBatch: (limit: number) => Promise<number>): Promise<number> => {
    let total = 0;
    while (true) {
      signal.throwIfAborted();
      const deleted = await deleteBatch(BATCH);
      total += deleted;
      if (deleted < BATCH) return total;
    }
  };
  // First: the others may use up the time of the sweep. One that fails stops nothing else.
  const [organizations] = await Promise.allSettled([deleteOrganizations({ sql, boss }, signal)]);
  const deleted: Record<string, number> = {
    organizations: organizations.status === "fulfilled" ? organizations.value : 0,
  };
  for (const [name, rows] of Object.entries({ ...OLD_ROWS, ...listKeptRows(config) })) {
    deleted[name] = await all((limit) => deleteOldRows(sql, { ...rows, limit }));
  }
  Object.assign(deleted, {
    auditEntries: await all((limit) =>
      deleteOldAuditEntries(sql, { days: config.auditRetentionDays, limit }),
    ),
    events: await all((limit) => deleteOldEvents(sql, { days: config.eventRetentionDays, limit })),
    trackerChanges: await all((limit) => deleteOldTrackerChanges(sql, limit)),
  });
  const isNews = Object.values(deleted).some((count) => count > 0);
  log[isNews ? "info" : "debug"]({ event: "retention.swept", ...deleted }, "deleted old records");
  if (organizations.status === "rejected") throw organizations.reason;
}

/**
 * Deletes the organizations whose seven days are over, each in one transaction: if the process dies, the next sweep finds
 * it as it was. An owner who restores one at the same time is either first, or too late. A copy of the database deletes none.
 * Returns how many it deleted; `signal` stops it between two.
 */
export async function deleteOrganizations(
  { sql, boss }: Pick<RunnerDeps, "sql" | "boss">,
  signal: AbortSignal,
): Promise<number> {
  // Owners may have restored theirs in the original.
  if (await isDatabaseCopy(sql)) return 0;
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
  // Read first, because the deletion removes the members.
  const owners = await listOwners(tx, org.id);
  const { jobIds, members, projects } = await markOrgDeleted(tx, org.id);
  for (const id of jobIds) await cancelJob(tx, boss, { id, name: "build_org_export" });
  await insertAuditEntry(tx, {
    actorType: "service",
    action: "org.delete",
    subject: { type: "organization", id: org.id },
    orgId: org.id,
    details: { slug: org.slug, members, projects },
  });
  // Last: it locks the owners' addresses, and password resets for them wait.
  await queueDeletionNotices(tx, boss, { org, owners, actorUserId: null, about: "deleted" });
  return true;
}
