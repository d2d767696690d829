import { describe, expect, test } from "bun:test";
import { buildApp } from "../../../api/app.ts";
import { createMetrics } from "../../../api/metrics.ts";
import { openPool } from "../../../sql/pool.ts";
import { login, makeAccount } from "../../helpers/accounts.ts";
import { openTestApp, type TestApp } from "../../helpers/app.ts";

/** Another account each time, so that the address alone is counted. */
function nobody(): { email: string; password: string } {
  return { email: `${crypto.randomUUID()}@example.com`, password: "wrong password" };
}

/** Lets a minute pass for all that was counted, as far as the database can tell. */
async function passMinute(api: TestApp): Promise<void> {
  await api.db.sql`
    update login_attempts
    set attempted_at = array(select at - interval '1 minute' from unnest(attempted_at) at order by at),
      last_attempt_at = last_attempt_at - interval '1 minute'`;
}

/** A second process over the same database: an app with a pool of its own. */
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

describe("the limit of attempts to sign in", () => {
  test("holds for an address, whatever the accounts, and says how long to wait", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 2 } });
    for (const status of [401, 401, 429]) expect((await login(api, nobody())).status).toBe(status);
    const refused = await login(api, await makeAccount(api));
    expect(await refused.json()).toMatchObject({ error: { code: "RATE_LIMITED" } });
    expect(refused.headers.get("retry-after")).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect(refused.headers.get("x-ratelimit-limit")).toBe("2");
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    expect((await login(api, nobody(), { address: "192.0.2.2" })).status).toBe(401);
  });

  test("holds for an account, from whatever address and in whatever case, right password or not", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 3 } });
    const account = await makeAccount(api);
    const { email } = account;
    const attempts = [email, email.toUpperCase(), email].map((spelling, index) =>
      login(api, { email: spelling, password: "wrong" }, { address: `198.51.100.${index}` }),
    );
    for (const attempt of attempts) expect((await attempt).status).toBe(401);
    expect((await login(api, account, { address: "198.51.100.9" })).status).toBe(429);
    expect((await login(api, await makeAccount(api), { address: "198.51.100.9" })).status).toBe(200);
  });

  test("holds for accounts that do not exist alike", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 1 } });
    const stranger = nobody();
    expect((await login(api, stranger, { address: "203.0.113.1" })).status).toBe(401);
    expect((await login(api, stranger, { address: "203.0.113.2" })).status).toBe(429);
  });

  test("counts for no account what the address may not try", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 1 } });
    const account = await makeAccount(api);
    await login(api, nobody());
    for (let round = 0; round < 3; round += 1) expect((await login(api, account)).status).toBe(429);
    expect((await login(api, account, { address: "203.0.113.7" })).status).toBe(200);
  });

  test("is one for all processes, however many ask at once", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 5 } });
    await using second = openSecondApp(api);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => login(index % 2 ? api : second, nobody())),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(11).fill(429)]);
  });

  test("frees an attempt when it is a minute old, and counts none that was refused", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 1 } });
    for (const status of [401, 429, 429]) expect((await login(api, nobody())).status).toBe(status);
    await passMinute(api);
    for (const status of [401, 429]) expect((await login(api, nobody())).status).toBe(status);
  });

  test("leaves nothing behind of those who tried, but for the last minute", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 100 } });
    for (let round = 0; round < 4; round += 1) {
      await login(api, nobody(), { address: `203.0.113.${round}` });
    }
    expect(await api.db.sql`select 1 from login_attempts`).toHaveLength(8);
    await passMinute(api);
    await login(api, nobody(), { address: "203.0.113.99" });
    expect(await api.db.sql`select 1 from login_attempts`).toHaveLength(2);
  });
});
