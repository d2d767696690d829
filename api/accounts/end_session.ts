/** The end of a session, whether its user signed out or an operator ended it. */
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { markOwnSessionRevoked, markSessionRevoked } from "../../sql/accounts/sessions.ts";
import type { Pool } from "../../sql/connection/pool.ts";

/**
 * Ends a session and adds an audit entry; false if it had already ended. With `userId`, only a session of that user ends:
 * another's is indistinguishable from one that does not exist.
 */
export async function endSession(
  sql: Pool,
  { id, userId, actor }: { id: string; userId?: string; actor: AuditActor },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const hasEnded =
      userId === undefined
        ? await markSessionRevoked(tx, id)
        : await markOwnSessionRevoked(tx, { id, userId });
    // Otherwise another request has just ended it and added the entry.
    if (!hasEnded) return false;
    await insertAuditEntry(tx, {
      ...actor,
      action: "session.revoke",
      subjectType: "session",
      subjectId: id.toLowerCase(),
    });
    return true;
  });
}
