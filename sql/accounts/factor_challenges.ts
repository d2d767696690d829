/**
 * Table `factor_challenges`: sign-ins, new factors and session verifications whose second step is pending. They expire within
 * minutes.
 */
import { firstRow, onlyValue, type Sql } from "../connection/pool.ts";
import type { UserWithPassword } from "./users.ts";

/**
 * Minutes within which a session must complete the second step. Adding TOTP gets more time, because the user may have to install an
 * app first.
 */
const SESSION_MINUTES = { verify: 5, add_passkey: 5, add_totp: 15 } as const;

type SessionPurpose = keyof typeof SESSION_MINUTES;

/** A user who has entered the right password and must still present a second factor. */
export interface PendingUser extends UserWithPassword {
  challengeId: string;
}

export interface NewPendingSignIn {
  userId: string;
  tokenHash: Buffer;
  /** The hash that the password was checked against. */
  passwordHash: string;
  minutes: number;
}

/** Stores a pending sign-in with the hash of its token, and returns its expiry. */
export async function insertPendingSignIn(sql: Sql, signIn: NewPendingSignIn): Promise<string> {
  return onlyValue(sql<[{ expiresAt: string }]>`
    insert into factor_challenges (user_id, purpose, token_hash, password_digest, expires_at)
    values (
      ${signIn.userId}, 'sign_in', ${signIn.tokenHash}, sha256(convert_to(${signIn.passwordHash}, 'UTF8')),
      now() + make_interval(mins => ${signIn.minutes})
    )
    returning expires_at`);
}

/**
 * Finds the user of a pending sign-in by its token. Returns null if the token is unknown, used or expired, if the user is disabled,
 * or if the password has changed since.
 */
export async function findPendingUser(sql: Sql, tokenHash: Buffer): Promise<PendingUser | null> {
  return firstRow(sql<PendingUser[]>`
    select
      c.id as challenge_id,
      u.id, u.username, u.email, u.platform_role, u.name, u.disabled_at, u.created_at, u.password_hash
    from factor_challenges c
    join users u on u.id = c.user_id
    where c.token_hash = ${tokenHash}
      and c.expires_at > now()
      and c.password_digest = sha256(convert_to(u.password_hash, 'UTF8'))
      and u.disabled_at is null`);
}

/** Finds and locks a pending sign-in; null if the sign-in is used or expired. Call it inside a transaction. */
export async function lockPendingSignIn(
  sql: Sql,
  id: string,
): Promise<{ challengeHash: Uint8Array | null } | null> {
  return firstRow(sql<{ challengeHash: Uint8Array | null }[]>`
    select challenge_hash
    from factor_challenges
    where id = ${id} and expires_at > now()
    for update`);
}

/** Replaces the hash of the challenge that a passkey must sign. Null clears it, because a challenge works only once. */
export async function updateChallengeHash(
  sql: Sql,
  challenge: { id: string; challengeHash: Buffer | null },
): Promise<void> {
  await sql`
    update factor_challenges
    set challenge_hash = ${challenge.challengeHash}
    where id = ${challenge.id}`;
}

/** Counts a failed attempt, and deletes the challenge once `limit` attempts have failed. */
export async function countWrongTry(sql: Sql, challenge: { id: string; limit: number }): Promise<void> {
  await sql`
    with tried as (
      update factor_challenges
      set wrong_tries = wrong_tries + 1
      where id = ${challenge.id} and wrong_tries + 1 < ${challenge.limit}
      returning id
    )
    delete from factor_challenges
    where id = ${challenge.id} and not exists (select from tried)`;
}

/** Deletes a challenge that has been used. */
export async function deleteChallenge(sql: Sql, id: string): Promise<void> {
  await sql`
    delete from factor_challenges
    where id = ${id}`;
}

export interface NewSessionChallenge {
  userId: string;
  sessionId: string;
  purpose: SessionPurpose;
  challengeHash?: Buffer;
  secret?: Uint8Array;
}

/** Stores a challenge of a session and returns its expiry. The challenge replaces an earlier one with the same purpose. */
export async function upsertSessionChallenge(sql: Sql, challenge: NewSessionChallenge): Promise<string> {
  const { userId, sessionId, purpose, challengeHash = null, secret = null } = challenge;
  return onlyValue(sql<[{ expiresAt: string }]>`
    insert into factor_challenges (user_id, session_id, purpose, challenge_hash, secret, expires_at)
    values (
      ${userId}, ${sessionId}, ${purpose}, ${challengeHash}, ${secret},
      now() + make_interval(mins => ${SESSION_MINUTES[purpose]})
    )
    on conflict on constraint factor_challenges_session_id_purpose_key do update
    set challenge_hash = excluded.challenge_hash, secret = excluded.secret, wrong_tries = 0,
      expires_at = excluded.expires_at
    returning expires_at`);
}

export interface SessionChallengeRow {
  id: string;
  challengeHash: Uint8Array | null;
  secret: Uint8Array | null;
  /** The database's time in milliseconds since the epoch. */
  nowMs: number;
}

/** Finds and locks a session's challenge; null if the challenge is used or expired. Call it inside a transaction. */
export async function lockSessionChallenge(
  sql: Sql,
  key: { sessionId: string; purpose: SessionPurpose },
): Promise<SessionChallengeRow | null> {
  return firstRow(sql<SessionChallengeRow[]>`
    select id, challenge_hash, secret, floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
    from factor_challenges
    where session_id = ${key.sessionId} and purpose = ${key.purpose} and expires_at > now()
    for update`);
}
