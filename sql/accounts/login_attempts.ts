/**
 * Table `login_attempts`: limits on sign-in attempts, to protect passwords from guessing. All processes share the limits. The
 * sliding window is 60 seconds.
 */
import { anyRow, type Sql } from "../connection/pool.ts";

/** The subject of a limit: the client's network, its IPv6 /48, or an email address (ignoring case) together with the network. */
export interface LoginSubject {
  kind: "address" | "site" | "account";
  value: string;
}

/**
 * Returns an expression for the SHA-256 of a text in lower case. PostgreSQL lowercases it, exactly as in the unique index on
 * emails.
 */
export function loginHash(sql: Sql, text: string) {
  return sql`sha256(convert_to(lower(${text}), 'UTF8'))`;
}

function subjectHash(sql: Sql, { kind, value }: LoginSubject) {
  return loginHash(sql, `${kind}:${value}`);
}

/** Returns the milliseconds until the next attempt is allowed. Call it after a rejected attempt. */
export async function findLoginWaitMs(
  sql: Sql,
  attempt: { subject: LoginSubject; limit: number },
): Promise<number> {
  const [row] = await sql<{ waitMs: number }[]>`
    select ceil(1000 * extract(epoch from
      attempted_at[cardinality(attempted_at) - ${attempt.limit}::int + 1] + interval '1 minute' - clock_timestamp()
    ))::int as wait_ms
    from login_attempts
    where subject_hash = ${subjectHash(sql, attempt.subject)}`;
  return Math.max(0, row?.waitMs ?? 0);
}

/** Counts a sign-in attempt and returns true. Returns false without counting if there were `limit` attempts in the last minute. */
export async function insertLoginAttempt(
  sql: Sql,
  attempt: { subject: LoginSubject; limit: number },
): Promise<boolean> {
  // The conflicting row is locked before it is read, so simultaneous attempts count each other. Each attempt is recorded with
  // clock_timestamp() and not now(), because an attempt that waited for the lock must be later than the one that held it.
  const recent = sql`
    select at from unnest(a.attempted_at) at where at > clock_timestamp() - interval '1 minute'`;
  return anyRow(sql`
    insert into login_attempts as a (subject_hash, attempted_at, last_attempt_at)
    values (${subjectHash(sql, attempt.subject)}, array[clock_timestamp()], clock_timestamp())
    on conflict on constraint login_attempts_pkey do update
    set attempted_at = array(${recent} order by at) || clock_timestamp()::timestamptz(3),
      last_attempt_at = clock_timestamp()
    where (select count(*) from (${recent}) r) < ${attempt.limit}
    returning subject_hash`);
}
