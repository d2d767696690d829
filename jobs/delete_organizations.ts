/**
 * Deletes the organizations whose seven days are over, each in one transaction: if the process dies, the next sweep finds
 * it as it was. An owner who restores one at the same time is either first, or too late.
 */
import { insertAuditEntry } from "../sql/accounts/audit_log.ts";
import { queueDeletionNotices } from "../sql/accounts/deletion_notices.ts";
import { lockDueOrg, markOrgDeleted } from "../sql/accounts/organization_deletion.ts";
import type { Pool, Sql } from "../sql/connection/pool.ts";
import { type Boss, cancelJob } from "../sql/queue.ts";

/** Returns how many it deleted; `signal` stops it between two. */
export async function deleteOrganizations(
  { sql, boss }: { sql: Pool; boss: Boss },
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  while (true) {
    signal.throwIfAborted();
    if (!(await sql.begin((tx) => deleteNext(tx, boss)))) return count;
    count += 1;
  }
}

async function deleteNext(tx: Sql, boss: Boss): Promise<boolean> {
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
