import { expect, test } from "bun:test";
import { type CallerMemory, openCallerMemory } from "../../api/caller_memory.ts";
import { createLog } from "../../shared/log.ts";
import { API_APPLICATION } from "../../sql/connections.ts";
import { openPool, type Pool } from "../../sql/pool.ts";
import { openTestApp } from "../helpers/app.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/database.ts";
import { createFactory } from "../helpers/factory.ts";
import { probeRoutes } from "../helpers/probe_routes.ts";
import { openSlowProxy } from "../helpers/slow_proxy.ts";
import { waitFor } from "../helpers/wait_for.ts";

const HASH = Buffer.alloc(32, 7);

interface Remembering extends AsyncDisposable {
  memory: CallerMemory;
  /** Asks for the caller, and says whether the memory had to look. */
  looksFor(expiresInMs?: number): Promise<boolean>;
  ids: { user: string; credential: string };
  sql: Pool;
}

/** A memory of one key, over a pool of its own. */
async function openRemembering(db: TestDatabase, url = db.url): Promise<Remembering> {
  const make = createFactory(db.sql);
  const { user } = await make.person();
  const key = await make.key({ userId: user.id });
  const sql = openPool(url, { applicationName: API_APPLICATION, max: 2 });
  const memory = openCallerMemory({ sql, log: createLog({ level: "silent", process: "test" }) });
  return {
    memory,
    sql,
    ids: { user: user.id, credential: key.id },
    async looksFor(expiresInMs) {
      let looked = false;
      await memory.find(HASH, async () => {
        looked = true;
        const credential = { type: "session", id: key.id, expiresAt: "2999-01-01T00:00:00.000Z" } as const;
        const caller = {
          userId: user.id,
          username: user.username,
          platformRole: "user",
          credential,
        } as const;
        return { caller, expiresInMs: expiresInMs ?? null };
      });
      return looked;
    },
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  };
}

/** Waits until the memory answers without looking. */
async function untilRemembered({ looksFor }: Remembering): Promise<void> {
  await waitFor(async () => !(await looksFor()));
}

test("a caller is looked up once, and again after five seconds at most", async () => {
  await using db = await openTestDatabase();
  await using remembering = await openRemembering(db);
  await untilRemembered(remembering);
  const begun = performance.now();
  await waitFor(remembering.looksFor, 10_000);
  expect(performance.now() - begun).toBeLessThan(6_000);
});

const changes: Record<string, (db: TestDatabase, ids: Remembering["ids"]) => PromiseLike<unknown>> = {
  "a key that is revoked": ({ sql }, { credential }) =>
    sql`update api_keys set revoked_at = now() where id = ${credential}`,
  "a key that gets an end": ({ sql }, { credential }) =>
    sql`update api_keys set expires_at = now() where id = ${credential}`,
  "a key that is deleted": ({ sql }, { credential }) => sql`delete from api_keys where id = ${credential}`,
  "a user who gets another role": ({ sql }, { user }) =>
    sql`update users set platform_role = 'admin' where id = ${user}`,
  "a user who is deleted": ({ sql }, { user }) => sql`delete from users where id = ${user}`,
};

for (const [name, change] of Object.entries(changes)) {
  test(`another process's change is told within a second: ${name}`, async () => {
    await using db = await openTestDatabase();
    await using remembering = await openRemembering(db);
    await untilRemembered(remembering);
    await change(db, remembering.ids);
    await waitFor(remembering.looksFor, 1_000);
  });
}

test("noting that a key was used is told to nobody", async () => {
  await using db = await openTestDatabase();
  await using remembering = await openRemembering(db);
  const heard: string[] = [];
  await db.sql.listen("ulr_credentials", (message) => heard.push(message));
  const { credential } = remembering.ids;
  await db.sql`update api_keys set last_used_at = now() where id = ${credential}`;
  await db.sql`update api_keys set revoked_at = now() where id = ${credential}`;
  await waitFor(() => heard.length > 0);
  expect(heard).toEqual([credential]);
});

test("a lookup that began before the change is not remembered after it", async () => {
  await using db = await openTestDatabase();
  await using remembering = await openRemembering(db);
  await untilRemembered(remembering);
  const { memory, ids } = remembering;
  memory.forget(ids.credential);
  const other = Buffer.alloc(32, 8);
  let looks = 0;
  const find = (duringLookUp: () => void) =>
    memory.find(other, async () => {
      looks += 1;
      duringLookUp();
      const credential = {
        type: "session",
        id: ids.credential,
        expiresAt: "2999-01-01T00:00:00.000Z",
      } as const;
      const caller = { userId: ids.user, username: "u", platformRole: "user", credential } as const;
      return { caller, expiresInMs: null };
    });
  await find(() => memory.forget(ids.credential));
  await find(() => {});
  expect(looks).toBe(2);
});

test("a caller is not remembered beyond the end of the credential", async () => {
  await using db = await openTestDatabase();
  await using remembering = await openRemembering(db);
  await untilRemembered(remembering);
  remembering.memory.forget(remembering.ids.credential);
  expect(await remembering.looksFor(0)).toBe(true);
  expect(await remembering.looksFor()).toBe(true);
});

test("a listening connection that is lost costs what was known, and is made anew", async () => {
  await using db = await openTestDatabase();
  await using remembering = await openRemembering(db);
  await untilRemembered(remembering);
  const [{ count }] = await db.sql<[{ count: number }]>`
    select count(pg_terminate_backend(pid))::int
    from pg_stat_activity
    where datname = current_database() and query ilike 'listen "ulr_credentials%'`;
  expect(count).toBe(1);
  await waitFor(remembering.looksFor);
  await untilRemembered(remembering);
  await db.sql`update api_keys set revoked_at = now() where id = ${remembering.ids.credential}`;
  await waitFor(remembering.looksFor, 1_000);
});

test("nothing is remembered for longer than a second when nothing can be heard any more", async () => {
  await using db = await openTestDatabase();
  await using proxy = await openSlowProxy(db.url);
  const url = new URL(db.url);
  url.host = new URL(proxy.origin).host;
  await using remembering = await openRemembering(db, url.href);
  await untilRemembered(remembering);
  // The connections stay open, and say no more.
  proxy.stall();
  await waitFor(remembering.looksFor, 1_500);
  expect(await remembering.looksFor()).toBe(true);
});

test("what a process revokes itself is refused with the next request", async () => {
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

test("an API refuses within a second what another process has revoked", async () => {
  await using api = await openTestApp({ routes: probeRoutes() });
  const { user, key } = await api.make.person();
  const ask = async () => (await api.request("/api/v1/caller", { key })).status;
  for (let asked = 0; asked < 20; asked += 1) expect(await ask()).toBe(200);
  await api.db.sql`update api_keys set revoked_at = now() where user_id = ${user.id}`;
  await waitFor(async () => (await ask()) === 401, 1_000);
});
