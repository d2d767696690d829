import { expect, test } from "bun:test";
import { auditRows, makeAccount, signIn } from "../../../helpers/accounts/accounts.ts";
import {
  Clock,
  ORIGIN,
  outcomeOf,
  post,
  signInWithCode,
  withPasskey,
  withTotp,
} from "../../../helpers/accounts/factors.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { listWaiting } from "../../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

async function verify(api: TestApp, key: string, body: object): Promise<string> {
  return outcomeOf(await api.request("/api/v1/auth/factors/verify", { method: "POST", key, body }));
}

async function makeStale(api: TestApp): Promise<void> {
  await api.db.sql`update sessions set factor_at = now() - interval '1 hour'`;
}

async function isRecent(api: TestApp): Promise<boolean> {
  const rows = await api.db.sql`select 1 from sessions where factor_at > now() - interval '1 minute'`;
  return rows.length > 0;
}

test("an unused code verifies the session, but a used code does not", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { account, key, secret, recoveryCodes } = await withTotp(api, clock, await makeAccount(api));
  await makeStale(api);
  expect(await verify(api, key, { code: clock.code(secret) })).toBe("401 UNAUTHORIZED");
  expect(await isRecent(api)).toBe(false);
  clock.step();
  const outcomes = await Promise.all([1, 2].map(() => verify(api, key, { code: clock.code(secret) })));
  expect(outcomes.toSorted()).toEqual(["200", "401 UNAUTHORIZED"]);
  expect(await isRecent(api)).toBe(true);
  expect((await auditRows(api)).at(-1)).toMatchObject({ actorUserId: account.id });
  await makeStale(api);
  expect(await verify(api, key, { code: recoveryCodes[0] })).toBe("200");
  expect(await verify(api, key, { code: recoveryCodes[0] })).toBe("401 UNAUTHORIZED");
});

test("codes are checked against the database's clock, even if the API's clock is ahead", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  const now = Date.now;
  Date.now = () => now() + 600_000;
  try {
    const clock = Object.assign(new Clock(), { time: now() });
    const { key, secret } = await withTotp(api, clock, account);
    clock.step();
    expect(await verify(api, key, { code: clock.code(secret) })).toBe("200");
    await api.db.sql`update second_factors set last_step = 0`;
    expect((await signInWithCode(api, account, clock.code(secret))).user).toMatchObject({ id: account.id });
  } finally {
    Date.now = now;
  }
});

test("a passkey response verifies the session once, if it is for the newest, unexpired options", async () => {
  await using api = await openTestApp();
  const { key, device } = await withPasskey(api, await makeAccount(api));
  const begin = async () =>
    (await post<{ options: { challenge: string } }>(api, "/auth/factors/verify/options", { key })).options
      .challenge;
  await makeStale(api);
  const replaced = await begin();
  // `get()` increments the counter to 0. Synced passkeys always send 0, and the service accepts a counter that stays 0.
  device.count = -1;
  const passkey = device.get({ challenge: await begin(), origin: ORIGIN });
  expect(await verify(api, key, { passkey })).toBe("200");
  expect(await isRecent(api)).toBe(true);
  expect(await verify(api, key, { passkey })).toBe("401 UNAUTHORIZED");
  const stale = device.get({ challenge: replaced, origin: ORIGIN });
  await begin();
  expect(await verify(api, key, { passkey: stale })).toBe("401 UNAUTHORIZED");
  const expired = device.get({ challenge: await begin(), origin: ORIGIN });
  await api.db.sql`update factor_challenges set expires_at = now() - interval '1 second'`;
  expect(await verify(api, key, { passkey: expired })).toBe("401 UNAUTHORIZED");
});

test("requesting options during a verification does not block the verification", async () => {
  await using api = await openTestApp();
  const { key } = await withPasskey(api, await makeAccount(api));
  const begin = () => api.request("/api/v1/auth/factors/verify/options", { method: "POST", key });
  expect(await outcomeOf(await begin())).toBe("200");
  const { options } = await api.db.sql.begin(async (tx) => {
    await tx`select from users for no key update`;
    await tx`select from factor_challenges for update`;
    const asked = begin();
    await waitFor(async () => (await listWaiting(api.db.sql)).length > 0);
    await tx`select from second_factors for update nowait`;
    return { options: asked };
  });
  expect(await outcomeOf(await options)).toBe("200");
});

test("wrong codes count as sign-in attempts and toward the daily limit on wrong codes", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now, config: { rateLimitLoginPerMinute: 4 } });
  const { key } = await withTotp(api, clock, await makeAccount(api));
  expect(await verify(api, key, { code: "000000" })).toBe("401 UNAUTHORIZED");
  expect(await verify(api, key, { code: "000000" })).toBe("401 UNAUTHORIZED");
  expect(await verify(api, key, { code: "000000" })).toBe("429 RATE_LIMITED");
  const [row] = await api.db.sql`select wrong_codes from second_factors`;
  expect(row).toEqual({ wrongCodes: 2 });
});

test("a user without a factor can neither verify a code nor request passkey options", async () => {
  await using api = await openTestApp();
  const { sessionToken: key } = await signIn(api, await makeAccount(api));
  expect(await verify(api, key, { code: "123456" })).toBe("422 UNPROCESSABLE_ENTITY");
  const options = await api.request("/api/v1/auth/factors/verify/options", { method: "POST", key });
  expect(await outcomeOf(options)).toBe("422 UNPROCESSABLE_ENTITY");
});
