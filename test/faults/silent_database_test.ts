/** A database that takes connections and statements and says nothing any more, as behind a cable that was cut. */
import { expect, test } from "bun:test";
import { startApi } from "../helpers/api_process.ts";
import { openTestDatabase } from "../helpers/database.ts";
import { createFactory } from "../helpers/factory.ts";
import { openSlowProxy } from "../helpers/slow_proxy.ts";

/** The 30 s after which the API answers by itself, and some time to do so. */
const ANSWERED_MS = 40_000;
/** More than there are connections: some wait for one. */
const REQUESTS = 12;

test("requests to a database that has fallen silent are answered 503, those that wait for a connection too", async () => {
  await using db = await openTestDatabase();
  await using proxy = await openSlowProxy(db.url);
  const { key } = await createFactory(db.sql).person();
  const url = new URL(db.url);
  url.port = new URL(proxy.origin).port;
  await using api = await startApi({ DATABASE_URL: url.href, DATABASE_POOL_MAX: "2" });
  const ask = () => api.request("/api/v1/auth/me", { key });
  expect((await ask()).status).toBe(200);
  proxy.stall();
  const begun = performance.now();
  const answers = await Promise.all(Array.from({ length: REQUESTS }, ask));
  expect(performance.now() - begun).toBeLessThan(ANSWERED_MS);
  for (const answer of answers) {
    expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
  }
  expect((await api.request("/health/live")).status).toBe(200);
}, 60_000);
