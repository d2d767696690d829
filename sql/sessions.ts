/** Sessions of people who signed in. Only a token's SHA-256 is ever compared or stored. */
import type { PlatformRole } from "../shared/vocabulary.ts";
import type { Sql } from "./pool.ts";

/** A session that works now, together with its user. */
export interface SessionCallerRow {
  userId: string;
  username: string;
  platformRole: PlatformRole;
  sessionId: string;
  expiresAt: string;
  /** Milliseconds until then. */
  expiresInMs: number;
}

/** Who a session token stands for; `null` when there is no such session, or it was ended, or it has expired. */
export async function findSessionCaller(sql: Sql, tokenHash: Buffer): Promise<SessionCallerRow | null> {
  const [row] = await sql<SessionCallerRow[]>`
    select
      u.id as user_id, u.username, u.platform_role,
      s.id as session_id, s.expires_at,
      extract(epoch from s.expires_at - now()) * 1000 as expires_in_ms
    from sessions s
    join users u on u.id = s.user_id
    where s.token_hash = ${tokenHash} and s.revoked_at is null and s.expires_at > now()`;
  return row ?? null;
}

export interface NewSession {
  userId: string;
  tokenHash: Buffer;
  expiresAt: string;
}

/** Stores a session by the hash of its token; `mintSessionToken` in shared/credentials.ts makes one. */
export async function insertSession(
  sql: Sql,
  session: NewSession,
): Promise<{ id: string; expiresAt: string }> {
  const [row] = await sql<[{ id: string; expiresAt: string }]>`
    insert into sessions (user_id, token_hash, expires_at)
    values (${session.userId}, ${session.tokenHash}, ${session.expiresAt})
    returning id, expires_at`;
  return row;
}

/** Ends a session; false when it had ended before. */
export async function markSessionRevoked(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`
    update sessions
    set revoked_at = now()
    where id = ${id} and revoked_at is null
    returning id`;
  return rows.length > 0;
}

/** Deletes up to `limit` sessions that were ended or have expired, the oldest first, and says how many. */
export async function deleteEndedSessions(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from sessions
    where id in (
      select id
      from sessions
      where least(expires_at, revoked_at) <= now()
      order by least(expires_at, revoked_at)
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
