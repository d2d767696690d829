/** A database that accepts connections and statements but does not respond, as after a network failure. */
import { expect, test } from "bun:test";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { openSlowProxy } from "../helpers/network/slow_proxy.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { startApi } from "../helpers/process/api_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** More requests than connections. A write holds one of the two connections, one request gets the other, and the rest wait. */
const REQUESTS = 12;

/** Blocks all writes to API keys until the returned object is disposed of. */
async function lockKeys(sql: Pool): Promise<AsyncDisposable> {
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const ended = sql.begin(async (tx) => {
    await tx`lock table api_keys in exclusive mode`;
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  return {
    async [Symbol.asyncDispose]() {
      released.resolve();
      await ended;
    },
  };
}

async function isWriteWaiting(sql: Sql): Promise<boolean> {
  const waiting = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into api_keys%'`;
  return waiting.length > 0;
}

test("requests get a 503 when the database stops responding, even those that are waiting for a connection", async () => {
  await using db = await openTestDatabase();
  await using proxy = await openSlowProxy(db.url);
  const make = createFactory(db.sql);
  const { key, user } = await make.person();
  const { token } = await make.session({ userId: user.id });
  const url = new URL(db.url);
  url.port = new URL(proxy.origin).port;
  await using api = await startApi({ DATABASE_URL: url.href, DATABASE_POOL_MAX: "2" });
  const ask = () => api.request("/api/v1/auth/me", { key });
  expect((await ask()).status).toBe(200);
  const askForModels = () => api.request("/api/v1/models");
  expect((await askForModels()).status).toBe(200);
  await using _lock = await lockKeys(db.sql);
  const write = api.request("/api/v1/auth/keys", { method: "POST", key: token, body: {} });
  await waitFor(() => isWriteWaiting(db.sql));
  proxy.stall();
  const responses = await Promise.all(Array.from({ length: REQUESTS }, ask));
  for (const response of responses) {
    expect([response.status, Number(response.headers.get("retry-after")) > 0]).toEqual([503, true]);
  }
  const late = await write;
  expect([late.status, await late.json()]).toMatchObject([
    503,
    {
      error: {
        code: "SERVICE_UNAVAILABLE",
        message: expect.stringContaining("Check whether the change was applied"),
      },
    },
  ]);
  expect((await api.request("/health/live")).status).toBe(200);
  // The API still serves cached data.
  expect((await askForModels()).status).toBe(200);
});
