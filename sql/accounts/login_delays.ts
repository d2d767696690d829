/**
 * Tables `login_account_attempts` and `login_waits`: delays against password guessing at one account from many networks. Beyond the
 * limit, a network must wait before each attempt. The wait starts at 1 s and doubles with each attempt from any network, up to 15
 * minutes.
 */
import { anyRow, type Sql } from "../connection/pool.ts";
import { loginHash } from "./login_attempts.ts";

/** The SQL condition that an account's count has lapsed: no attempt for 10 minutes per counted attempt, or for one day. */
export const FORGOTTEN_ACCOUNT = `login_account_attempts.last_attempt_at
  < clock_timestamp() - least(login_account_attempts.attempts, 144) * interval '10 minutes'`;

export interface DelayedAttempt {
  /** The target of the guesses: an email address, or the session from which the password is guessed. */
  account: string;
  network: string;
  /** The number of attempts per account without a delay. */
  limit: number;
}

/** Counts an attempt and returns true if the account's count is below `limit`. Otherwise returns false without counting. */
export async function insertUndelayedAttempt(sql: Sql, { account, limit }: DelayedAttempt): Promise<boolean> {
  const forgotten = sql.unsafe(FORGOTTEN_ACCOUNT);
  return anyRow(sql`
    insert into login_account_attempts (account_hash, attempts, last_attempt_at)
    values (${loginHash(sql, account)}, 1, clock_timestamp())
    on conflict on constraint login_account_attempts_pkey do update
    set attempts = case when ${forgotten} then 1 else login_account_attempts.attempts + 1 end, last_attempt_at = clock_timestamp()
    where ${forgotten} or login_account_attempts.attempts < ${limit}
    returning account_hash`);
}

/** Counts an attempt and returns true if the network has waited long enough. Otherwise returns false and starts the wait. */
export async function insertDelayedAttempt(sql: Sql, attempt: DelayedAttempt): Promise<boolean> {
  const { account, network, limit } = attempt;
  const subjectHash = loginHash(sql, `${network} ${account}`);
  const admitted = await sql`
    with admitted as (
      update login_waits w
      set waiting_since = clock_timestamp()
      from login_account_attempts a
      where w.subject_hash = ${subjectHash}
        and a.account_hash = ${loginHash(sql, account)}
        and w.waiting_since <= clock_timestamp() - ${delayOf(sql, limit)}
      returning a.account_hash
    )
    update login_account_attempts
    set attempts = attempts + 1, last_attempt_at = clock_timestamp()
    where account_hash in (select account_hash from admitted)
    returning account_hash`;
  if (admitted.length > 0) return true;
  await sql`
    insert into login_waits (subject_hash, waiting_since)
    values (${subjectHash}, clock_timestamp())
    on conflict on constraint login_waits_pkey do nothing`;
  return false;
}

/** Returns an SQL expression for the delay, which doubles with each attempt (`a.attempts`) beyond the limit. */
function delayOf(sql: Sql, limit: number) {
  return sql`least(900, 2 ^ least(10, greatest(0, a.attempts - ${limit}::int))) * interval '1 second'`;
}

/** Returns the milliseconds that a network must still wait. Call it after a rejected attempt. */
export async function findDelayMs(sql: Sql, { account, network, limit }: DelayedAttempt): Promise<number> {
  const [row] = await sql<{ waitMs: number }[]>`
    select
      floor(1000 * extract(epoch from w.waiting_since + ${delayOf(sql, limit)} - clock_timestamp()))::int as wait_ms
    from login_waits w
    join login_account_attempts a on a.account_hash = ${loginHash(sql, account)}
    where w.subject_hash = ${loginHash(sql, `${network} ${account}`)}`;
  return Math.max(0, row?.waitMs ?? 0);
}
