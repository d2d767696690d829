import { expect, test } from "bun:test";
import { createCredentialCache, type FoundCaller } from "../../../api/http/credential_cache.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { probeRoutes } from "../../helpers/http/probe_routes.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const HASH = Buffer.alloc(32, 7);
const ID = "9d0a2f52-61c4-4f57-8d3b-1f2f9d3e7a10";

function foundCaller(expiresInMs: number | null = null): FoundCaller {
  const credential = {
    type: "session",
    id: ID,
    expiresAt: "2999-01-01T00:00:00.000Z",
    isProven: false,
  } as const;
  return { caller: { userId: "u", username: "ann", platformRole: "user", credential }, expiresInMs };
}

/** Creates a cache and counts its lookups. */
function openCounting(lookUp: () => Promise<FoundCaller | null> = async () => foundCaller()) {
  const cache = createCredentialCache();
  let lookups = 0;
  const find = () =>
    cache.find(HASH, () => {
      lookups += 1;
      return lookUp();
    });
  return { cache, find, lookups: () => lookups };
}

test("concurrent and later requests share one lookup", async () => {
  const { find, lookups } = openCounting();
  const callers = await Promise.all(Array.from({ length: 20 }, find));
  expect(new Set(callers.map((caller) => caller?.username))).toEqual(new Set(["ann"]));
  await find();
  expect(lookups()).toBe(1);
});

test("a cached credential is looked up again after about a second", async () => {
  const { find, lookups } = openCounting();
  await find();
  await waitFor(async () => {
    await find();
    return lookups() > 1;
  }, 1_500);
});

test("an unknown credential is looked up each time", async () => {
  const { find, lookups } = openCounting(async () => null);
  expect([await find(), await find()]).toEqual([null, null]);
  expect(lookups()).toBe(2);
});

test("a failed lookup rejects all waiting requests, and the next request retries", async () => {
  const failures = [new Error("Cannot reach the database")];
  const { find } = openCounting(async () => {
    const failure = failures.pop();
    if (failure) throw failure;
    return foundCaller();
  });
  const responses = await Promise.allSettled([find(), find()]);
  expect(responses.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await find())?.username).toBe("ann");
});

test("a credential is not cached beyond its expiry", async () => {
  const { find, lookups } = openCounting(async () => foundCaller(0));
  await find();
  await waitFor(async () => {
    await find();
    return lookups() > 1;
  }, 500);
});

test("a forgotten credential is looked up again, even if it is forgotten during a lookup", async () => {
  const started = Promise.withResolvers<void>();
  const { cache, find, lookups } = openCounting(async () => {
    await started.promise;
    return foundCaller();
  });
  const early = find();
  cache.forget(ID);
  started.resolve();
  await early;
  await waitFor(async () => {
    await find();
    return lookups() > 1;
  }, 500);
  cache.forget("u");
  await find();
  expect(lookups()).toBe(3);
});

test("a credential is refused on the next request after the same process revokes it", async () => {
  await using api = await openTestApp();
  const { user } = await api.make.person();
  const { token: key } = await api.make.session({ userId: user.id });
  const created = await api.request("/api/v1/auth/keys", { method: "POST", key, body: {} });
  const { data } = (await created.json()) as { data: { key: string; apiKey: { id: string } } };
  for (let asked = 0; asked < 3; asked += 1) {
    expect((await api.request("/api/v1/orgs", { key: data.key })).status).toBe(200);
  }
  const path = `/api/v1/auth/keys/${data.apiKey.id.toUpperCase()}`;
  expect((await api.request(path, { method: "DELETE", key })).status).toBe(204);
  expect((await api.request("/api/v1/orgs", { key: data.key })).status).toBe(401);
  expect((await api.request("/api/v1/auth/logout", { method: "POST", key })).status).toBe(204);
  expect((await api.request("/api/v1/auth/me", { key })).status).toBe(401);
});

test("an API refuses a credential within a second after another process revokes it or disables or deletes its user", async () => {
  await using api = await openTestApp({ routes: probeRoutes() });
  const { sql } = api.db;
  const changes = [
    (id: string) => sql`update api_keys set revoked_at = now() where user_id = ${id}`,
    (id: string) => sql`update api_keys set expires_at = now() - interval '1 second' where user_id = ${id}`,
    (id: string) => sql`update users set disabled_at = now() where id = ${id}`,
    (id: string) => sql`delete from users where id = ${id}`,
  ];
  for (const change of changes) {
    const { user, key } = await api.make.person();
    const ask = async () => (await api.request("/api/v1/caller", { key })).status;
    for (let asked = 0; asked < 20; asked += 1) expect(await ask()).toBe(200);
    await change(user.id);
    await waitFor(async () => (await ask()) === 401, 1_000);
  }
});
