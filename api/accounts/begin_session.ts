/** The beginning of a session, whether its user signed in or an operator made it. */

import type { ProofKind } from "../../shared/vocabulary.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { existsSecondFactor } from "../../sql/accounts/second_factors.ts";
import { insertSession, markExcessSessionsRevoked } from "../../sql/accounts/sessions.ts";
import { lockActiveUser } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { mintSessionToken } from "../http/credentials.ts";

const HOUR_MS = 3_600_000;

/** A user's sessions that have neither ended nor expired. */
export const LIVE_SESSIONS_MAX = 50;

interface SessionStart {
  user: { id: string; username: string };
  /** What the password was verified against; left out when none was asked for. */
  passwordHash?: string;
  ttlHours: number;
  device: { address: string; userAgent: string | null } | null;
  /** What the user has proven themselves with beside the password; an operator vouches for them. */
  secondFactor: ProofKind | "operator" | null;
  /** Who began it. The user's own sessions are named as the credential of their sign-in. */
  actor: AuditActor;
}

/**
 * Begins a session, ends those beyond the quota that were used longest ago, and notes it. Null if the user is
 * disabled, has another password by now, or has a second factor that was not used. Call inside a transaction.
 */
export async function beginSession(
  tx: Sql,
  start: SessionStart,
): Promise<{ sessionToken: string; expiresAt: string } | null> {
  const { user, passwordHash, ttlHours, device, secondFactor, actor } = start;
  if (!(await lockActiveUser(tx, { id: user.id, ...(passwordHash === undefined ? {} : { passwordHash }) }))) {
    return null;
  }
  const hasFactor = await existsSecondFactor(tx, user.id);
  if (hasFactor && secondFactor === null) return null;
  const { secret, hash } = mintSessionToken();
  const expiresAt = new Date(Date.now() + ttlHours * HOUR_MS).toISOString();
  const session = await insertSession(tx, {
    userId: user.id,
    tokenHash: hash,
    expiresAt,
    isProven: hasFactor,
    ...device,
  });
  const ended = await markExcessSessionsRevoked(tx, { userId: user.id, limit: LIVE_SESSIONS_MAX });
  await insertAuditEntry(tx, {
    ...actor,
    ...(actor.actorType === "user" ? { credentialId: session.id } : {}),
    action: "session.create",
    subject: { type: "session", id: session.id },
    details: {
      username: user.username,
      expiresAt,
      ...(hasFactor ? { secondFactor } : {}),
      ...(ended > 0 ? { endedSessions: ended } : {}),
    },
  });
  return { sessionToken: secret, expiresAt };
}
