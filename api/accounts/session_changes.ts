/** Begins and ends sessions, for users and operators. */
import type { ProofKind } from "../../shared/vocabulary.ts";
import {
  type AuditActor,
  type AuditEntry,
  insertAuditEntries,
  insertAuditEntry,
} from "../../sql/accounts/audit_log.ts";
import { existsSecondFactor } from "../../sql/accounts/second_factors.ts";
import {
  insertSession,
  markExcessSessionsRevoked,
  markSessionRevoked,
  markSessionsRevoked,
} from "../../sql/accounts/sessions.ts";
import { lockActiveUser } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { mintSessionToken } from "../http/credentials.ts";

/** Sessions per user that have neither ended nor expired. */
export const LIVE_SESSIONS_MAX = 50;

interface SessionStart {
  user: { id: string; username: string };
  /** The hash that the password was verified against; omitted if no password was required. */
  passwordHash?: string;
  ttlHours: number;
  device: { address: string; userAgent: string | null } | null;
  /** The second factor that the user signed in with; `operator` if an operator vouches for the user; null if none was used. */
  secondFactor: ProofKind | "operator" | null;
  /** A user or an operator. If it is a user, the audit entry names the new session as the credential. */
  actor: AuditActor;
}

/**
 * Begins a session and adds an audit entry. Ends the least recently used sessions beyond the quota. Returns null if the user is
 * disabled, has a new password, or has a second factor that was not used. Call inside a transaction.
 */
export async function beginSession(
  tx: Sql,
  start: SessionStart,
): Promise<{ sessionToken: string; expiresAt: string } | null> {
  const { user, passwordHash, ttlHours, device, secondFactor, actor } = start;
  if (!(await lockActiveUser(tx, { id: user.id, passwordHash }))) return null;
  const hasFactor = await existsSecondFactor(tx, user.id);
  if (hasFactor && secondFactor === null) return null;
  const { secret, hash } = mintSessionToken();
  const { id, expiresAt } = await insertSession(tx, {
    userId: user.id,
    tokenHash: hash,
    ttlHours,
    isProven: hasFactor,
    ...device,
  });
  const ended = await markExcessSessionsRevoked(tx, { userId: user.id, limit: LIVE_SESSIONS_MAX });
  await insertAuditEntry(tx, {
    ...actor,
    ...(actor.actorType === "user" ? { credentialId: id } : {}),
    action: "session.create",
    subject: { type: "session", id },
    details: {
      username: user.username,
      expiresAt,
      ...(hasFactor ? { secondFactor } : {}),
      ...(ended > 0 ? { endedSessions: ended } : {}),
    },
  });
  return { sessionToken: secret, expiresAt };
}

/**
 * Ends a session and adds an audit entry. Returns false if the session has already ended. With `userId`, another user's session
 * counts as nonexistent. Call inside a transaction.
 */
export async function endSession(
  tx: Sql,
  { id, userId, actor }: { id: string; userId?: string; actor: AuditActor },
): Promise<boolean> {
  // Another request may have just ended the session and added the entry.
  if (!(await markSessionRevoked(tx, { id, userId }))) return false;
  await insertAuditEntry(tx, entryOf(id.toLowerCase(), actor));
  return true;
}

/** Ends a user's sessions with an audit entry for each. Returns the number of ended sessions. Call inside a transaction. */
export async function endSessions(
  tx: Sql,
  { user, actor }: { user: { id: string }; actor: AuditActor },
): Promise<number> {
  const ids = await markSessionsRevoked(tx, { userId: user.id });
  await insertAuditEntries(
    tx,
    ids.map((id) => entryOf(id, actor)),
  );
  return ids.length;
}

function entryOf(subjectId: string, actor: AuditActor): AuditEntry {
  return { ...actor, action: "session.revoke", subject: { type: "session", id: subjectId } };
}
