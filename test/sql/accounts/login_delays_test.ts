import { expect, test } from "bun:test";
import {
  findDelayMs,
  insertDelayedAttempt,
  insertUndelayedAttempt,
} from "../../../sql/accounts/login_delays.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const ATTEMPT = { account: "ann@example.com", network: "192.0.2.0/24", limit: 5 };
/** Delays in seconds, by the number of attempts over the limit. */
const DELAYS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900];

test("allows exactly the permitted number of concurrent attempts without a delay", async () => {
  await using db = await openTestDatabase();
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => insertUndelayedAttempt(db.sql, ATTEMPT)),
  );
  expect(responses.filter((isCounted) => isCounted)).toHaveLength(5);
  const spelled = { ...ATTEMPT, account: "ANN@example.com" };
  expect(await insertUndelayedAttempt(db.sql, spelled)).toBe(false);
  expect(await insertUndelayedAttempt(db.sql, { ...ATTEMPT, account: "bob@example.com" })).toBe(true);
});

test("doubles the delay with each attempt over the limit, up to 15 minutes", async () => {
  await using db = await openTestDatabase();
  for (let attempt = 0; attempt < ATTEMPT.limit; attempt += 1) await insertUndelayedAttempt(db.sql, ATTEMPT);
  for (const [beyond, seconds] of DELAYS.entries()) {
    const attempt = { ...ATTEMPT, network: `192.0.${beyond}.0/24` };
    expect(await insertDelayedAttempt(db.sql, attempt)).toBe(false);
    await db.sql`update login_waits set waiting_since = clock_timestamp() + interval '1 day'`;
    const waitMs = await findDelayMs(db.sql, attempt);
    const [row] = await db.sql`
      select 1000 * extract(epoch from waiting_since - clock_timestamp()) as until_ms
      from login_waits
      where waiting_since > now()
      limit 1`;
    expect([beyond, Math.floor((waitMs - row?.["untilMs"] + 5) / 1000)]).toEqual([beyond, seconds]);
    await db.sql`
      update login_waits set waiting_since = clock_timestamp() - ${seconds + 0.1} * interval '1 second'`;
    expect(await insertDelayedAttempt(db.sql, attempt)).toBe(true);
  }
});

test("allows a network only one attempt after its delay, even if attempts are concurrent", async () => {
  await using db = await openTestDatabase();
  for (let attempt = 0; attempt < ATTEMPT.limit; attempt += 1) await insertUndelayedAttempt(db.sql, ATTEMPT);
  await db.sql`update login_account_attempts set attempts = 100`;
  await insertDelayedAttempt(db.sql, ATTEMPT);
  await db.sql`update login_waits set waiting_since = waiting_since - interval '15 minutes'`;
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => insertDelayedAttempt(db.sql, ATTEMPT)),
  );
  expect(responses.filter((isCounted) => isCounted)).toHaveLength(1);
});

test("resets an account's attempts after 10 idle minutes per attempt, or after a day at most", async () => {
  await using db = await openTestDatabase();
  const rest = async (attempts: number, minutes: number) => {
    await insertUndelayedAttempt(db.sql, ATTEMPT);
    await db.sql`
      update login_account_attempts
      set attempts = ${attempts}, last_attempt_at = clock_timestamp() - ${minutes} * interval '1 minute'`;
    return insertUndelayedAttempt(db.sql, ATTEMPT);
  };
  expect([await rest(6, 58), await rest(6, 61)]).toEqual([false, true]);
  expect([await rest(5000, 1438), await rest(5000, 1441)]).toEqual([false, true]);
});
