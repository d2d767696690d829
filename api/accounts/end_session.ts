/** The end of sessions, whether their user signed out or an operator ended them. */
import {
  type AuditActor,
  type AuditEntry,
  insertAuditEntries,
  insertAuditEntry,
} from "../../sql/accounts/audit_log.ts";
import {
  markOwnSessionRevoked,
  markSessionRevoked,
  markSessionsRevoked,
} from "../../sql/accounts/sessions.ts";
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
    await insertAuditEntry(tx, entryOf(id.toLowerCase(), actor));
    return true;
  });
}

/** Ends all sessions of a user, with an audit entry for each, and returns how many were live. */
export async function endSessions(
  sql: Pool,
  { user, actor }: { user: { id: string }; actor: AuditActor },
): Promise<number> {
  return sql.begin(async (tx) => {
    const ids = await markSessionsRevoked(tx, { userId: user.id });
    await insertAuditEntries(
      tx,
      ids.map((id) => entryOf(id, actor)),
    );
    return ids.length;
  });
}

function entryOf(subjectId: string, actor: AuditActor): AuditEntry {
  return { ...actor, action: "session.revoke", subject: { type: "session", id: subjectId } };
}
