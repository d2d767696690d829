/** The export watermark when writers and the service share a PgBouncer in transaction mode. */
import { expect, test } from "bun:test";
import postgres from "postgres";
import { EXPORT_APPLICATION, POOLED_API_APPLICATION } from "../../sql/connection/application_names.ts";
import { openPool, type Pool } from "../../sql/connection/pool.ts";
import { openExportSnapshot } from "../../sql/connection/snapshot.ts";
import { type AsOfResult, settleAsOf } from "../../sql/exports/settle_as_of.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { startPgBouncer } from "./pgbouncer.ts";

const WRITERS = 12;
/** Fewer than the clients, so that each session serves all of them in turn. */
const SESSIONS = 8;
/** The number is limited, because choosing a watermark takes up to half a second while all sessions are busy. */
const WATERMARKS = 20;

async function openPooled(sessions: number) {
  const db = await openTestDatabase();
  await db.owner`
    create table rows (
      id bigint generated always as identity primary key,
      created_at timestamptz(3) not null default now()
    )`;
  const pooler = await startPgBouncer(db.url, { settings: { default_pool_size: sessions } });
  const api = openPool(pooler.url, { applicationName: POOLED_API_APPLICATION, max: 4, isPooled: true });
  // Like many drivers, this one sends no application name.
  const writers = postgres(pooler.url, {
    max: WRITERS,
    prepare: false,
    connection: { application_name: "" },
    onnotice: () => {},
  });
  return {
    db,
    api,
    writers,
    async [Symbol.asyncDispose]() {
      await Promise.all([api.end({ timeout: 1 }), writers.end({ timeout: 1 })]);
      await pooler[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}

function settled(result: AsOfResult): string {
  if (!result.ok) throw new Error(`Cannot use the watermark: ${result.reason}`);
  return result.asOf;
}

async function countUpTo(sql: Pool, asOf: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from rows where created_at <= ${asOf}`;
  return row.count;
}

test("a transaction in a pooled session with the service's application name still holds back the watermark", async () => {
  await using place = await openPooled(2);
  const { db, api, writers } = place;
  // Waits until both sessions have served the service. On a busy machine, one session may have served both queries.
  await waitFor(async () => {
    await Promise.all([api`select pg_sleep(0.05)`, api`select pg_sleep(0.05)`]);
    const sessions = await db.sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = ${POOLED_API_APPLICATION}`;
    return sessions.length === 2;
  });
  const commit = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<{ pid: number; startedAt: string }>();
  const writing = writers.begin(async (tx) => {
    const [row] = await tx`select pg_backend_pid() as pid, to_json(now()) #>> '{}' as "startedAt"`;
    begun.resolve({ pid: row?.["pid"], startedAt: new Date(row?.["startedAt"]).toISOString() });
    await commit.promise;
    await tx`insert into rows default values`;
  });
  const { pid, startedAt } = await begun.promise;
  const [session] = await db.sql`select application_name from pg_stat_activity where pid = ${pid}`;
  expect(session).toEqual({ applicationName: POOLED_API_APPLICATION });
  const result = await settleAsOf(api);
  expect(settled(result) < startedAt).toBe(true);
  expect(result.blockers).toMatchObject([{ pid }]);
  commit.resolve();
  await writing;
  expect(await countUpTo(db.sql, settled(result))).toBe(0);
  expect(await countUpTo(db.sql, settled(await settleAsOf(api)))).toBe(1);
});

test("a running export does not hold back the watermark", async () => {
  await using place = await openPooled(2);
  const { db, api, writers } = place;
  const exportSql = openPool(db.url, { applicationName: EXPORT_APPLICATION, max: 1, readOnly: true });
  const { signal } = new AbortController();
  const snapshot = await openExportSnapshot(exportSql, { control: api, signal });
  await writers`insert into rows default values`;
  const result = await settleAsOf(api);
  expect(result.blockers).toEqual([]);
  expect(await countUpTo(db.sql, settled(result))).toBe(1);
  await snapshot.close();
  await exportSql.end();
});

test("a watermark always selects the same rows while other clients write through the same sessions", async () => {
  await using place = await openPooled(SESSIONS);
  const { db, api, writers } = place;
  const seen: { asOf: string; rows: number }[] = [];
  const writing = Array.from({ length: WRITERS }, async (_, writer) => {
    while (seen.length < WATERMARKS) {
      await writers.begin(async (tx) => {
        await tx`insert into rows default values`;
        // These transactions take longer, so that they are open while a watermark is chosen.
        if (writer % 3 === 0) await tx`select pg_sleep(0.002)`;
        await tx`insert into rows default values`;
      });
    }
  });
  while (seen.length < WATERMARKS) {
    const asOf = settled(await settleAsOf(api));
    seen.push({ asOf, rows: await countUpTo(api, asOf) });
  }
  await Promise.all(writing);
  const later = [];
  for (const { asOf } of seen) later.push({ asOf, rows: await countUpTo(db.sql, asOf) });
  expect(later).toEqual(seen);
  expect(seen.at(-1)?.rows).toBeGreaterThan(seen[0]?.rows ?? 0);
});
