/**
 * Tables `login_account_attempts` and `login_waits`: slow down guesses at one account from many networks. Beyond the
 * limit, each network waits before each attempt: 1 s at first, doubled by each attempt of any network, up to 15
 * minutes.
 */
import { anyRow, type Sql } from "../connection/pool.ts";
import { loginHash } from "./login_attempts.ts";

/** An account is forgotten after 10 idle minutes per attempt, at most a day. */
export const FORGOTTEN_ACCOUNT = `login_account_attempts.last_attempt_at
  < clock_timestamp() - least(login_account_attempts.attempts, 144) * interval '10 minutes'`;

export interface DelayedAttempt {
  /** What is guessed at: an address, or the session that guesses. */
  account: string;
  network: string;
  /** Attempts per account without a delay. */
  limit: number;
}

/** Counts an attempt if the account had fewer than `limit` recently; otherwise false, without counting. */
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

/** Counts an attempt of a network that has waited long enough; otherwise false, and the network starts waiting. */
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

/** Doubles with each of `a.attempts` beyond the limit. */
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
