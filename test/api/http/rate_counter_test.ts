import { describe, expect, test } from "bun:test";
import { mintApiKey } from "../../../api/http/credentials.ts";
import { RateCounter } from "../../../api/http/rate_counter.ts";
import { openTestApp, type TestRequest } from "../../helpers/http/app.ts";
import { probeRoutes } from "../../helpers/http/probe_routes.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const START = Date.parse("2026-11-20T10:00:00.500Z");

/** Creates a clock that the test controls. */
function createClock() {
  let time = START;
  return {
    now: () => time,
    turn: (ms: number) => {
      time += ms;
    },
  };
}

describe("RateCounter", () => {
  test("allows requests up to the limit and refuses more until the next window", () => {
    const { now, turn } = createClock();
    const counter = new RateCounter({ limit: 2, now });
    const resetAt = START + 60_000;
    expect(counter.take("a")).toEqual({ limit: 2, remaining: 1, resetAt, allowed: true });
    expect(counter.take("a")).toEqual({ limit: 2, remaining: 0, resetAt, allowed: true });
    expect(counter.take("a")).toEqual({ limit: 2, remaining: 0, resetAt, allowed: false });
    turn(59_999);
    expect(counter.take("a").allowed).toBe(false);
    turn(1);
    expect(counter.take("a")).toEqual({ limit: 2, remaining: 1, resetAt: resetAt + 60_000, allowed: true });
  });

  test("counts each key separately", () => {
    const counter = new RateCounter({ limit: 1, now: () => START });
    counter.take("a");
    expect([counter.take("a").allowed, counter.take("b").allowed]).toEqual([false, true]);
  });

  test("can be read without counting a request", () => {
    const { now, turn } = createClock();
    const counter = new RateCounter({ limit: 1, now });
    for (let times = 0; times < 3; times += 1) {
      expect(counter.peek("a")).toMatchObject({ remaining: 1, allowed: true });
    }
    counter.take("a");
    expect(counter.peek("a")).toMatchObject({ remaining: 0, allowed: false });
    turn(60_000);
    expect(counter.peek("a")).toMatchObject({ remaining: 1, allowed: true });
  });

  test("ends windows that began before the clock was set back", () => {
    const { now, turn } = createClock();
    const counter = new RateCounter({ limit: 1, now });
    counter.take("a");
    turn(-3_600_000);
    expect(counter.peek("a")).toMatchObject({ remaining: 1, resetAt: now() + 60_000, allowed: true });
    expect(counter.take("a")).toMatchObject({ remaining: 0, resetAt: now() + 60_000, allowed: true });
    expect(counter.take("a").allowed).toBe(false);
    turn(60_000);
    expect(counter.take("a").allowed).toBe(true);
  });

  test("forgets the oldest window first if there are too many keys", () => {
    const { now, turn } = createClock();
    const counter = new RateCounter({ limit: 1, maxKeys: 3, now });
    for (const key of ["a", "b", "c", "d"]) {
      counter.take(key);
      turn(1);
    }
    expect(["a", "c", "d"].map((key) => counter.peek(key).remaining)).toEqual([1, 0, 0]);
  });

  test("forgets the key with the oldest window, not the key that was seen first", () => {
    const { now, turn } = createClock();
    const counter = new RateCounter({ limit: 1, maxKeys: 3, now });
    counter.take("a");
    turn(30_000);
    counter.take("b");
    turn(30_000);
    counter.take("a");
    counter.take("c");
    counter.take("d");
    expect(["a", "b", "c", "d"].map((key) => counter.peek(key).remaining)).toEqual([0, 1, 0, 0]);
  });
});

describe("the limits on requests", () => {
  test("are in every response, and a 429 has the time to wait in Retry-After", async () => {
    const { now, turn } = createClock();
    await using api = await openTestApp({
      routes: probeRoutes(),
      now,
      config: { rateLimitAnonymousPerMinute: 2 },
    });
    const ask = () => api.request("/api/v1/echo/a");
    const reset = String(Math.ceil((START + 60_000) / 1000));
    for (const remaining of ["1", "0"]) {
      const { status, headers } = await ask();
      expect(status).toBe(200);
      expect(headers.get("x-ratelimit-limit")).toBe("2");
      expect(headers.get("x-ratelimit-remaining")).toBe(remaining);
      expect(headers.get("x-ratelimit-reset")).toBe(reset);
      expect(headers.get("ratelimit-policy")).toBe('"address";q=2;w=60');
      expect(headers.get("ratelimit")).toBe(`"address";r=${remaining};t=60`);
    }
    turn(18_200);
    const refused = await ask();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "42"]);
    expect([refused.headers.get("x-ratelimit-remaining"), refused.headers.get("x-ratelimit-reset")]).toEqual([
      "0",
      reset,
    ]);
    expect(refused.headers.get("ratelimit")).toBe('"address";r=0;t=42');
    expect(await refused.json()).toMatchObject({ error: { code: "RATE_LIMITED" } });
    turn(42_000);
    expect((await ask()).status).toBe(200);
  });

  test("count anonymous callers by address", async () => {
    await using api = await openTestApp({
      routes: probeRoutes(),
      config: { rateLimitAnonymousPerMinute: 1 },
    });
    const ask = async (address: string) => (await api.request("/api/v1/echo/a", { address })).status;
    expect([await ask("192.0.2.1"), await ask("192.0.2.1"), await ask("192.0.2.2")]).toEqual([200, 429, 200]);
  });

  test("count a user's requests together across credentials, routes and addresses", async () => {
    await using api = await openTestApp({ routes: probeRoutes(), config: { rateLimitUserPerMinute: 3 } });
    const { user, key } = await api.make.person();
    const other = await api.make.key({ userId: user.id, scope: "read" });
    const { token } = await api.make.session({ userId: user.id });
    const secrets = [key, other.key, token, key];
    const statuses: number[] = [];
    for (const [index, secret] of secrets.entries()) {
      const response = await api.request(index % 2 ? "/api/v1/caller" : "/api/v1/nowhere", {
        key: secret,
        address: `192.0.2.${index}`,
      });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([404, 200, 404, 429]);
    const somebodyElse = await api.make.person();
    expect((await api.request("/api/v1/caller", { key: somebodyElse.key })).status).toBe(200);
  });
});

describe("the limits on guesses", () => {
  test("count guesses by address and do not affect credentials that have already worked", async () => {
    await using api = await openTestApp({
      routes: probeRoutes(),
      config: { rateLimitAnonymousPerMinute: 2 },
    });
    const { key, user } = await api.make.person();
    const { token } = await api.make.session({ userId: user.id });
    const cookie = { cookie: `ulr_session=${token}` };
    const ask = async (options: TestRequest) => (await api.request("/api/v1/caller", options)).status;
    const guess = () => ask({ key: mintApiKey().secret });
    expect([await ask({ key }), await ask({ headers: cookie })]).toEqual([200, 200]);
    expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 429]);
    const { values } = await api.deps.metrics.rateLimited.get();
    expect(values.find(({ labels }) => labels.kind === "address")?.value).toBe(1);
    const valid = await api.request("/api/v1/caller", { key });
    expect([valid.status, valid.headers.get("x-ratelimit-limit")]).toEqual([200, "1200"]);
    expect(await ask({ headers: cookie })).toBe(200);
    // A key that was never used counts as a guess and is refused for the rest of the minute. From another address, the key works.
    const other = await api.make.person();
    expect([await ask({ key: other.key }), await ask({ key: other.key, address: "192.0.2.9" })]).toEqual([
      429, 200,
    ]);
  });

  test("reject a guess without a query and keep the browser's session cookie", async () => {
    await using api = await openTestApp({
      routes: probeRoutes(),
      config: { rateLimitAnonymousPerMinute: 1 },
    });
    const { key, user } = await api.make.person();
    const { token } = await api.make.session({ userId: user.id });
    const ask = (options: TestRequest) => api.request("/api/v1/caller", options);
    expect((await ask({ key })).status).toBe(200);
    expect((await ask({ key: mintApiKey().secret })).status).toBe(401);
    await api.deps.sql.end();
    const guesses = [{ key: mintApiKey().secret }, { headers: { cookie: `ulr_session=${token}` } }];
    for (const options of guesses) {
      const { status, headers } = await ask(options);
      expect([status, headers.get("set-cookie"), headers.has("retry-after")]).toEqual([429, null, true]);
    }
    // After a second, the key leaves the cache. Its lookup then fails, because the database pool is closed.
    await waitFor(async () => (await ask({ key })).status === 503);
  });

  test("count a revoked credential as a guess again", async () => {
    await using api = await openTestApp({
      routes: probeRoutes(),
      config: { rateLimitAnonymousPerMinute: 1 },
    });
    const { user } = await api.make.person();
    const { key, id } = await api.make.key({ userId: user.id });
    const ask = async () => (await api.request("/api/v1/caller", { key })).status;
    expect(await ask()).toBe(200);
    await api.db.sql`update api_keys set revoked_at = now() where id = ${id}`;
    await waitFor(async () => (await ask()) !== 200);
    await api.deps.sql.end();
    expect(await ask()).toBe(429);
  });
});
