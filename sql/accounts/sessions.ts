/** Table `sessions`. Only the SHA-256 of a token is stored and compared. */
import type { Credential } from "../../shared/policy.ts";
import type { PlatformRole } from "../../shared/vocabulary.ts";
import { anyRow, firstRow, firstValue, onlyRow, type Sql } from "../connection/pool.ts";

/** A valid session and its user. */
export interface SessionCallerRow {
  userId: string;
  username: string;
  platformRole: PlatformRole;
  sessionId: string;
  expiresAt: string;
  /** Milliseconds until the session expires. */
  expiresInMs: number;
  /** Whether the session has been verified with a second factor. */
  isProven: boolean;
  /** True if `lastUsedAt` is more than a minute old and needs an update. */
  isUseStale: boolean;
}

/**
 * Finds the user of a session token. Returns null if the token is unknown, revoked or expired, or if the user is disabled. Also
 * returns null if the user has a second factor and the session was not verified with one.
 */
export async function findSessionCaller(sql: Sql, tokenHash: Buffer): Promise<SessionCallerRow | null> {
  return firstRow(sql<SessionCallerRow[]>`
    select
      u.id as user_id, u.username, u.platform_role,
      s.id as session_id, s.expires_at, s.factor_at is not null as is_proven,
      extract(epoch from s.expires_at - now()) * 1000 as expires_in_ms,
      s.last_used_at < now() - interval '1 minute' as is_use_stale
    from sessions s
    join users u on u.id = s.user_id
    where s.token_hash = ${tokenHash}
      and s.revoked_at is null
      and s.expires_at > now()
      and u.disabled_at is null
      and ${isProvenEnough(sql)}`);
}

/**
 * Returns the condition that session `s` was verified with a second factor if its user has one. Sign-ins ensure this, but a process
 * that runs a release without second factors may have signed the user in with only the password.
 */
function isProvenEnough(sql: Sql) {
  return sql`(
    s.factor_at is not null
    or not exists (select from second_factors as f where f.user_id = s.user_id)
  )`;
}

/**
 * Returns true if a key or session is neither revoked nor expired, and its user is not disabled. If the user has a second factor, a
 * session must also be verified with one.
 */
export async function isCredentialLive(
  sql: Sql,
  { type, id }: Pick<Credential, "type" | "id">,
): Promise<boolean> {
  return anyRow(sql`
    select
    from ${sql(type === "key" ? "api_keys" : "sessions")} as s
    join users u on u.id = s.user_id
    where s.id = ${id}
      and s.revoked_at is null
      and (s.expires_at is null or s.expires_at > now())
      and u.disabled_at is null
      ${type === "key" ? sql`` : sql`and ${isProvenEnough(sql)}`}`);
}

/** Returns true if the session was verified with a second factor within the last `maxAgeSeconds`. */
export async function isSessionProven(
  sql: Sql,
  session: { id: string; maxAgeSeconds: number },
): Promise<boolean> {
  return anyRow(sql`
    select id
    from sessions
    where id = ${session.id} and factor_at > now() - make_interval(secs => ${session.maxAgeSeconds})`);
}

/** Returns the time when a session was last verified with a second factor; null if the session is not verified. */
export async function findSessionFactorAt(sql: Sql, id: string): Promise<string | null> {
  return firstValue(sql<{ factorAt: string | null }[]>`
    select factor_at
    from sessions
    where id = ${id}`);
}

/**
 * Marks a session as verified with a second factor just now, or as not verified. Returns the time of the verification; null if the
 * session is not verified.
 */
export async function updateSessionFactorAt(
  sql: Sql,
  session: { id: string; isProven: boolean },
): Promise<string | null> {
  return firstValue(sql<{ factorAt: string | null }[]>`
    update sessions
    set factor_at = case when ${session.isProven} then now() end
    where id = ${session.id}
    returning factor_at`);
}

/** The fields of a session that its owner can see. */
export interface SessionRow {
  id: string;
  createdAt: string;
  /** The time of the last use, accurate to the minute. */
  lastUsedAt: string;
  /** The client's address at sign-in; null for a session created on the command line. */
  address: string | null;
  userAgent: string | null;
  expiresAt: string;
}

/** Lists the sessions of a user that are neither revoked nor expired, newest first. */
export async function listSessions(sql: Sql, userId: string): Promise<SessionRow[]> {
  return sql<SessionRow[]>`
    select id, created_at, last_used_at, address, user_agent, expires_at
    from sessions
    where user_id = ${userId} and revoked_at is null and expires_at > now()
    order by created_at desc, id`;
}

export interface NewSession {
  userId: string;
  tokenHash: Buffer;
  ttlHours: number;
  address?: string | null;
  userAgent?: string | null;
  /** Whether the user signed in with a second factor. */
  isProven: boolean;
}

/** Stores a session with the hash of its token. `mintSessionToken` in api/http/credentials.ts creates the token. */
export async function insertSession(
  sql: Sql,
  session: NewSession,
): Promise<{ id: string; expiresAt: string }> {
  return onlyRow(sql<[{ id: string; expiresAt: string }]>`
    insert into sessions (user_id, token_hash, expires_at, address, user_agent, factor_at)
    values (
      ${session.userId}, ${session.tokenHash}, now() + make_interval(hours => ${session.ttlHours}),
      ${session.address ?? null}, ${session.userAgent ?? null}, case when ${session.isProven} then now() end
    )
    returning id, expires_at`);
}

/** Updates a session's `lastUsedAt`, at most once a minute across all processes. */
export async function updateSessionLastUsed(sql: Sql, id: string): Promise<void> {
  await sql`
    update sessions
    set last_used_at = now()
    where id = ${id} and last_used_at < now() - interval '1 minute'`;
}

/** Revokes a live session; false if the session is not live. With `userId`, revokes only a session of that user. */
export async function markSessionRevoked(
  sql: Sql,
  session: { id: string; userId?: string | undefined },
): Promise<boolean> {
  return anyRow(sql`
    update sessions
    set revoked_at = now()
    where id = ${session.id}
      and user_id = coalesce(${session.userId ?? null}, user_id)
      and revoked_at is null
      and expires_at > now()
    returning id`);
}

/** Revokes all live sessions of a user except `exceptId`, and returns the ids of the revoked sessions. */
export async function markSessionsRevoked(
  sql: Sql,
  sessions: { userId: string; exceptId?: string | undefined },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update sessions
    set revoked_at = now()
    where user_id = ${sessions.userId}
      and revoked_at is null
      and expires_at > now()
      and id is distinct from ${sessions.exceptId ?? null}
    returning id`;
  return rows.map(({ id }) => id);
}

/**
 * Revokes all live sessions of a user except the `limit` most recently used ones, and returns the number of revoked sessions. Call
 * it inside the transaction that inserts a session, after `lockActiveUser`.
 */
export async function markExcessSessionsRevoked(
  sql: Sql,
  sessions: { userId: string; limit: number },
): Promise<number> {
  const { count } = await sql`
    update sessions
    set revoked_at = now()
    where id in (
      select id
      from sessions
      where user_id = ${sessions.userId} and revoked_at is null and expires_at > now()
      order by last_used_at desc, created_at desc, id
      offset ${sessions.limit}
    )`;
  return count;
}
