/**
 * Job `delete_old_records`: deletes records past their retention (docs/operating.md, Growth), and organizations whose
 * deletion is due. The job may stop at any point, and two runs may overlap.
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

/** Rows per statement. A statement locks its rows for a few milliseconds. */
const BATCH = 1000;

/** Deletes old records in batches until none are left. `signal` stops the job between two batches. */
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
  // Organizations are deleted first, because the other deletions may use up the time of the sweep. If one fails, the other
  // deletions still run.
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
 * Deletes the organizations whose seven days are over, each in one transaction. If the process dies, the next sweep finds the
 * organization unchanged. A concurrent restore either comes first or is too late. A copy of the database deletes no
 * organizations. Returns the number of deleted organizations. `signal` stops the loop between two organizations.
 */
export async function deleteOrganizations(
  { sql, boss }: Pick<RunnerDeps, "sql" | "boss">,
  signal: AbortSignal,
): Promise<number> {
  // Owners may have restored their organizations in the original database.
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
  // The owners are read first, because the deletion removes the members.
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
  // The notices are queued last, because they lock the owners' addresses. Password resets for these addresses wait for the lock.
  await queueDeletionNotices(tx, boss, { org, owners, actorUserId: null, about: "deleted" });
  return true;
}
