import { describe, expect, test } from "bun:test";
import { buildApp } from "../../../../api/app.ts";
import { createMetrics } from "../../../../api/http/metrics.ts";
import { openPool } from "../../../../sql/connection/pool.ts";
import { login, makeAccount, signIn } from "../../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp, type TestAppOptions } from "../../../helpers/http/app.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const WRONG = "wrong password";

/** Returns a new account's email and a wrong password, so that only the limit per client address can be reached. */
async function wrongPair(api: TestApp): Promise<{ email: string; password: string }> {
  const { email } = await makeAccount(api);
  return { email, password: WRONG };
}

/** Returns credentials of an account that does not exist. Verifying them takes as much work as for an existing account. */
function nobody(): { email: string; password: string } {
  return { email: `${crypto.randomUUID()}@example.com`, password: WRONG };
}

interface Timed extends TestApp {
  /** Simulates the passage of time: advances the app's clock and moves the stored attempts into the past. */
  pass(seconds: number): Promise<void>;
}

/** Opens an app that allows `limit` sign-in attempts per minute. */
async function openTimed(limit: number, config: TestAppOptions["config"] = {}): Promise<Timed> {
  let passedMs = 0;
  const api = await openTestApp({
    config: { rateLimitLoginPerMinute: limit, ...config },
    now: () => Date.now() + passedMs,
  });
  const { sql } = api.db;
  return Object.assign(api, {
    pass: async (seconds: number) => {
      passedMs += seconds * 1000;
      const step = sql`${seconds} * interval '1 second'`;
      await sql`
        update login_attempts
        set attempted_at = array(select at - ${step} from unnest(attempted_at) at order by at),
          last_attempt_at = last_attempt_at - ${step}`;
      await sql`update login_account_attempts set last_attempt_at = last_attempt_at - ${step}`;
      await sql`update login_waits set waiting_since = waiting_since - ${step}`;
    },
  });
}

/** Opens a second app with its own pool on the same database, to simulate a second process. */
function openSecondApp(api: TestApp) {
  const sql = openPool(api.db.url, { applicationName: "test", max: 4 });
  const app = buildApp({ ...api.deps, sql, metrics: createMetrics() });
  return {
    request: (path: string, { method, body }: { method?: string; body?: unknown }) =>
      app.handle(
        new Request(`http://localhost${path}`, {
          method: method ?? "GET",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
        "192.0.2.1",
      ),
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  };
}

/** Returns an address in a different network for each number. */
function addressOf(network: number): string {
  return `10.0.${network}.9`;
}

describe("the limit on sign-in attempts", () => {
  test("applies to a client address across accounts, and the error says how long to wait", async () => {
    await using api = await openTimed(2);
    for (const status of [401, 401, 429])
      expect((await login(api, await wrongPair(api))).status).toBe(status);
    const refused = await login(api, await makeAccount(api));
    expect(await refused.json()).toMatchObject({ error: { code: "RATE_LIMITED" } });
    expect(refused.headers.get("retry-after")).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect(refused.headers.get("x-ratelimit-limit")).toBe("2");
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    expect((await login(api, await wrongPair(api), { address: "192.0.2.2" })).status).toBe(401);
  });

  test("rejects an address over the limit without querying the database", async () => {
    await using api = await openTimed(1);
    for (const status of [401, 429]) expect((await login(api, await wrongPair(api))).status).toBe(status);
    await api.deps.sql.end();
    expect((await login(api, await wrongPair(api))).status).toBe(429);
    expect((await login(api, await wrongPair(api), { address: "192.0.2.2" })).status).toBe(503);
  });

  test("applies to an account per network, ignoring the email's case, even with the right password", async () => {
    await using api = await openTimed(3);
    for (const addresses of [
      ["198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.9"],
      ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff::3", "2001:db8:1:2::9"],
    ]) {
      const account = await makeAccount(api);
      const { email } = account;
      for (const [index, spelling] of [email, email.toUpperCase(), email].entries()) {
        const options = { address: addresses[index] ?? "" };
        const attempt = await login(api, { email: spelling, password: WRONG }, options);
        // An account's attempts are counted per network: /24 for IPv4, /64 for IPv6.
        expect(attempt.status).toBe(401);
      }
      expect((await login(api, account, { address: addresses[3] ?? "" })).status).toBe(429);
    }
  });

  test("does not count attempts that exceed the address limit against the account", async () => {
    await using api = await openTimed(1);
    const account = await makeAccount(api);
    await login(api, await wrongPair(api));
    for (let round = 0; round < 3; round += 1) expect((await login(api, account)).status).toBe(429);
    expect((await login(api, account, { address: "203.0.113.7" })).status).toBe(200);
  });

  test("applies across all processes under concurrent attempts", async () => {
    await using api = await openTimed(5);
    await using second = openSecondApp(api);
    const pairs = await Promise.all(Array.from({ length: 16 }, () => wrongPair(api)));
    const responses = await Promise.all(pairs.map((pair, index) => login(index % 2 ? api : second, pair)));
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(11).fill(429)]);
  });

  test("allows another attempt after a minute, not counting refused attempts", async () => {
    await using api = await openTimed(1);
    for (const status of [401, 429, 429])
      expect((await login(api, await wrongPair(api))).status).toBe(status);
    await api.pass(60);
    for (const status of [401, 429]) expect((await login(api, await wrongPair(api))).status).toBe(status);
  });

  test("does not make clients wait longer if the clock is set back", async () => {
    let nowMs = Date.now();
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 1 }, now: () => nowMs });
    expect((await login(api, nobody())).status).toBe(401);
    expect((await login(api, nobody())).status).toBe(429);
    nowMs -= 3 * 3_600_000;
    await api.db.sql`delete from login_attempts`;
    expect((await login(api, nobody())).status).toBe(401);
  });

  test("deletes stored attempts that are older than a minute", async () => {
    await using api = await openTimed(100);
    for (let round = 0; round < 4; round += 1) {
      await login(api, await wrongPair(api), { address: `203.0.113.${round}` });
    }
    expect(await api.db.sql`select 1 from login_attempts`).toHaveLength(8);
    await api.pass(60);
    await login(api, await wrongPair(api), { address: "203.0.113.99" });
    expect(await api.db.sql`select 1 from login_attempts`).toHaveLength(2);
  });
});

/** Sends a wrong password for an account from each network. Returns the response statuses. */
async function guess(api: TestApp, email: string, networks: readonly number[]) {
  const statuses: number[] = [];
  for (const network of networks) {
    const options = { address: addressOf(network) };
    statuses.push((await login(api, { email, password: WRONG }, options)).status);
  }
  return statuses;
}

/** Raises the delays of all accounts to the maximum, as if many more passwords had been guessed. */
async function growDelay(api: TestApp): Promise<void> {
  await api.db.sql`update login_account_attempts set attempts = 144`;
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

describe("guesses at one account from many networks", () => {
  test("are delayed beyond the limit, whether or not the account exists", async () => {
    await using api = await openTimed(3);
    for (const { email } of [await makeAccount(api), nobody()]) {
      expect(await guess(api, email, range(1, 3))).toEqual([401, 401, 401]);
      await growDelay(api);
      expect(await guess(api, email, [1, 4])).toEqual([429, 429]);
      const refused = await login(api, { email, password: WRONG }, { address: addressOf(5) });
      const seconds = Number(refused.headers.get("retry-after"));
      expect([refused.status, seconds > 800, seconds <= 900]).toEqual([429, true, true]);
      await api.pass(seconds);
      expect(await guess(api, email, [5, 5])).toEqual([401, 429]);
    }
  });

  test("double the wait after each wrong password, from any network", async () => {
    await using api = await openTimed(3);
    const { email } = await makeAccount(api);
    expect(await guess(api, email, range(1, 3))).toEqual([401, 401, 401]);
    const waits: number[] = [];
    for (const network of range(10, 6)) {
      // Refused attempts do not count as guesses, because their passwords were not checked.
      const refused = await login(api, { email, password: WRONG }, { address: addressOf(network) });
      expect(refused.status).toBe(429);
      const seconds = Number(refused.headers.get("retry-after"));
      waits.push(seconds);
      await api.pass(seconds);
      expect(await guess(api, email, [network])).toEqual([401]);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32]);
  });

  test("are counted per IPv6 /48, because one customer may have 65,536 /64 networks", async () => {
    await using api = await openTimed(2);
    const { email } = await makeAccount(api);
    await guess(api, email, [1, 2]);
    await growDelay(api);
    const within = (subnet: number) => `2001:db8:77:${subnet.toString(16)}::1`;
    const ask = async (address: string) => (await login(api, { email, password: WRONG }, { address })).status;
    expect(await ask(within(1))).toBe(429);
    await api.pass(900);
    expect([await ask(within(2)), await ask(within(3)), await ask(within(4))]).toEqual([401, 429, 429]);
  });

  test("do not delay the owner on a known network", async () => {
    await using api = await openTimed(3);
    const account = await makeAccount(api);
    const home = { address: "198.51.100.4" };
    expect((await login(api, account, home)).status).toBe(200);
    await guess(api, account.email, range(1, 3));
    await growDelay(api);
    expect(await guess(api, account.email, [4])).toEqual([429]);
    expect((await login(api, account, { address: "198.51.100.77" })).status).toBe(200);
    await api.db.sql`update sign_in_networks set last_signed_in_at = now() - interval '31 days'`;
    expect((await login(api, account, home)).status).toBe(429);
  });

  test("delay the owner on a new network no longer than Retry-After says, even if guesses continue", async () => {
    await using api = await openTimed(4);
    const account = await makeAccount(api);
    await guess(api, account.email, range(1, 4));
    await growDelay(api);
    const travel = { address: "203.0.113.50" };
    const refused = await login(api, account, travel);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get("retry-after"));
    for (let step = 0; step < 2; step += 1) {
      await guess(api, account.email, range(1, 4));
      await api.pass(seconds);
    }
    expect((await login(api, account, travel)).status).toBe(200);
    expect((await login(api, account, travel)).status).toBe(200);
  });

  test("are forgotten after a day", async () => {
    await using api = await openTimed(2);
    const { email } = await makeAccount(api);
    expect(await guess(api, email, [1, 2])).toEqual([401, 401]);
    await growDelay(api);
    expect(await guess(api, email, [3])).toEqual([429]);
    await api.pass(24 * 3600 + 1);
    expect(await guess(api, email, [4, 5])).toEqual([401, 401]);
  });
});

test("guesses do not delay a signed-in user's password change, on the same network or elsewhere", async () => {
  await using api = await openTimed(3);
  const account = await makeAccount(api);
  const { sessionToken: key } = await signIn(api, account);
  const home = "192.0.2.9";
  const travel = "203.0.113.50";
  for (const neighbor of range(101, 3)) {
    await login(api, { ...account, password: WRONG }, { address: `192.0.2.${neighbor}` });
  }
  await guess(api, account.email, range(1, 3));
  await growDelay(api);
  for (const address of [home, travel]) {
    expect((await login(api, account, { address })).status).toBe(429);
    const body = { currentPassword: account.password, newPassword: account.password };
    const changed = await api.request("/api/v1/auth/password", { method: "POST", key, address, body });
    expect(changed.status).toBe(204);
  }
});

test("password guesses made with a session are delayed, but do not delay sign-in on another network", async () => {
  await using api = await openTimed(3);
  const account = await makeAccount(api);
  const { sessionToken: key } = await signIn(api, account);
  const body = { currentPassword: WRONG, newPassword: "seven quiet lamps at noon" };
  const statuses: number[] = [];
  for (const network of range(1, 5)) {
    const address = addressOf(network);
    statuses.push(
      (await api.request("/api/v1/auth/password", { method: "POST", key, address, body })).status,
    );
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
  expect((await login(api, account, { address: "203.0.113.50" })).status).toBe(200);
});

test("a password change forgets all known networks except the current one", async () => {
  await using api = await openTimed(10);
  const account = await makeAccount(api);
  await login(api, account, { address: "198.51.100.4" });
  const response = await login(api, account, { address: "203.0.113.4" });
  const { data } = (await response.json()) as { data: { sessionToken: string } };
  const changed = await api.request("/api/v1/auth/password", {
    method: "POST",
    key: data.sessionToken,
    address: "203.0.113.9",
    body: { currentPassword: account.password, newPassword: "seven quiet lamps at noon" },
  });
  expect(changed.status).toBe(204);
  const networks = await api.db.sql`select network from sign_in_networks`;
  expect(networks.map(({ network }) => network)).toEqual(["203.0.113.0/24"]);
});

test("a sample of failed sign-ins is recorded in the audit log, without the submitted email", async () => {
  await using api = await openTimed(100);
  const account = await makeAccount(api);
  const options = { address: "198.51.100.4", headers: { "user-agent": "guesser/1" } };
  expect((await login(api, account, options)).status).toBe(200);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await login(api, { email: account.email, password: WRONG }, options);
    await login(api, nobody(), { address: "203.0.113.4" });
  }
  const readRows = () => api.db.sql`
    select actor_type, actor_user_id, action, subject_type, subject_id, address, user_agent, details
    from audit_log
    where action = 'session.refuse'
    order by id`;
  await waitFor(async () => (await readRows()).length >= 2);
  const common = { actorType: "anonymous", actorUserId: null, action: "session.refuse", subjectType: "user" };
  const details = {};
  expect(Array.from(await readRows())).toEqual([
    { ...common, details, subjectId: account.id, address: "198.51.100.4", userAgent: "guesser/1" },
    { ...common, details, subjectId: "unknown", address: "203.0.113.4", userAgent: null },
  ]);
});
