import { expect, test } from "bun:test";
import { API_APPLICATION } from "../../../sql/connection/application_names.ts";
import { openPool, type Pool } from "../../../sql/connection/pool.ts";
import { type AsOfResult, settleAsOf } from "../../../sql/exports/settle_as_of.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";

/** Number of watermarks to settle during concurrent writes. Writers start about ten transactions per watermark. */
const WATERMARKS = 100;

/** Creates a table like the tracker tables: a row's time is the start of its transaction, rounded to milliseconds. */
async function createRows(sql: Pool): Promise<void> {
  await sql`
    create table rows (
      id bigint generated always as identity primary key,
      created_at timestamptz(3) not null default now()
    )`;
}

/** Opens a transaction that stays open until `insertAndCommit` is called. */
async function holdTransaction(
  sql: Pool,
): Promise<{ startedAt: string; insertAndCommit: () => Promise<void> }> {
  const released = Promise.withResolvers<void>();
  const started = Promise.withResolvers<string>();
  const done = sql.begin(async (tx) => {
    const [row] = await tx<[{ now: string }]>`select now() as now`;
    started.resolve(row.now);
    await released.promise;
    await tx`insert into rows default values`;
  });
  return {
    startedAt: await started.promise,
    insertAndCommit: () => {
      released.resolve();
      return done;
    },
  };
}

function openApiPool(db: TestDatabase): Pool {
  return openPool(db.url, { applicationName: API_APPLICATION, max: 4 });
}

function settled(result: AsOfResult): string {
  if (!result.ok) throw new Error(`Cannot use the watermark: ${result.reason}`);
  return result.asOf;
}

async function countUpTo(sql: Pool, asOf: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from rows where created_at <= ${asOf}`;
  return row.count;
}

test("settleAsOf() chooses a cutoff that includes everything committed before the call", async () => {
  await using db = await openTestDatabase();
  await createRows(db.owner);
  const api = openApiPool(db);
  for (let round = 1; round <= 100; round += 1) {
    await db.sql`insert into rows default values`;
    expect(await countUpTo(db.sql, settled(await settleAsOf(api)))).toBe(round);
  }
  await api.end();
});

test("settleAsOf() chooses a cutoff before an open transaction, and reports that transaction", async () => {
  await using db = await openTestDatabase();
  await createRows(db.owner);
  const api = openApiPool(db);
  await db.sql`insert into rows default values`;
  const open = await holdTransaction(db.sql);
  await db.sql`insert into rows default values`;
  const result = await settleAsOf(api);
  const asOf = settled(result);
  expect(asOf < open.startedAt).toBe(true);
  expect(result.blockers).toMatchObject([{ applicationName: "test", transactionStart: open.startedAt }]);
  const before = await countUpTo(db.sql, asOf);
  await open.insertAndCommit();
  expect(await countUpTo(db.sql, asOf)).toBe(before);
  await api.end();
});

test("settleAsOf() waits until an explicit cutoff has settled", async () => {
  await using db = await openTestDatabase();
  await createRows(db.owner);
  const api = openApiPool(db);
  const open = await holdTransaction(db.sql);
  const [{ now }] = await db.sql<[{ now: string }]>`select clock_timestamp() as now`;
  let isSettled = false;
  const waiting = settleAsOf(api, { asOf: now }).then((result) => {
    isSettled = true;
    return result;
  });
  // Meanwhile, a cutoff before the start of the open transaction settles.
  expect((await settleAsOf(api, { asOf: "2026-01-01T00:00:00.000Z" })).ok).toBe(true);
  expect(isSettled).toBe(false);
  await open.insertAndCommit();
  expect(settled(await waiting)).toBe(now);
  expect(await countUpTo(db.sql, now)).toBe(1);
  await api.end();
});

test("settleAsOf() stops waiting for a cutoff that does not settle in time", async () => {
  await using db = await openTestDatabase();
  await createRows(db.owner);
  const api = openApiPool(db);
  const open = await holdTransaction(db.sql);
  const [{ now }] = await db.sql<[{ now: string }]>`select clock_timestamp() as now`;
  const result = await settleAsOf(api, { asOf: now, timeoutMs: 100 });
  expect(result).toMatchObject({ ok: false, reason: "unsettled", blockers: [{ applicationName: "test" }] });
  await open.insertAndCommit();
  await api.end();
});

test("settleAsOf() respects its timeout and an abort even if the server's clock is set back", async () => {
  await using db = await openTestDatabase();
  // Shadows the system function `statement_timestamp()`. From the second call on, the replacement returns a time one hour earlier.
  await db.owner.unsafe(`
    create schema shifted;
    create sequence shifted.looks;
    create function shifted.statement_timestamp() returns timestamptz language sql volatile
      return pg_catalog.statement_timestamp() - case when nextval('shifted.looks') > 1 then interval '1 hour' else '0' end;
    grant usage on schema shifted to public;
    grant usage on sequence shifted.looks to public`);
  const settings = { search_path: "shifted, pg_catalog, public" };
  const api = openPool(db.url, { applicationName: API_APPLICATION, max: 4, settings });
  expect(await settleAsOf(api, { timeoutMs: 500 })).toMatchObject({ ok: false, reason: "unsettled" });
  await db.owner`alter sequence shifted.looks restart`;
  const leaving = AbortSignal.timeout(500);
  await expect(settleAsOf(api, { timeoutMs: 60_000, signal: leaving })).rejects.toThrow("timed out");
  await api.end();
});

test("settleAsOf() rejects a cutoff in the future", async () => {
  await using db = await openTestDatabase();
  const asOf = new Date(Date.now() + 60_000).toISOString();
  expect(await settleAsOf(db.sql, { asOf })).toMatchObject({ ok: false, reason: "future" });
});

test("settleAsOf() ignores the service's own transactions", async () => {
  await using db = await openTestDatabase();
  await createRows(db.owner);
  const api = openApiPool(db);
  const own = await holdTransaction(api);
  const result = await settleAsOf(api);
  expect(settled(result) > own.startedAt).toBe(true);
  expect(result.blockers).toEqual([]);
  await own.insertAndCommit();
  await api.end();
});

/** Creates a login role, runs the SQL that `setUp` returns for it, and holds a transaction of the role open. */
async function holdTransactionAs(
  db: TestDatabase,
  setUp: (role: string) => string,
): Promise<AsyncDisposable & { startedAt: string; role: string }> {
  const role = `role_${crypto.randomUUID().slice(0, 8)}`;
  await db.admin.unsafe(`create role ${role} login password 'secret'; ${setUp(role)}`);
  const url = new URL(db.url);
  [url.username, url.password] = [role, "secret"];
  const pool = openPool(url.href, { applicationName: "reporting", max: 1 });
  const released = Promise.withResolvers<void>();
  const started = Promise.withResolvers<string>();
  const done = pool.begin(async (tx) => {
    const [row] = await tx<[{ now: string }]>`select now() as now`;
    started.resolve(row.now);
    await released.promise;
  });
  return {
    startedAt: await started.promise,
    role,
    async [Symbol.asyncDispose]() {
      released.resolve();
      await done;
      await pool.end();
      await db.admin.unsafe(`drop owned by ${role} cascade; drop role ${role}`);
    },
  };
}

const READS = (role: string) => `grant select on all tables in schema public to ${role}`;

test.each<[string, (role: string) => string]>([
  ["that may read everything", READS],
  [
    "that may write other tables",
    (role) => `${READS(role)}; grant insert, update on users, projects to ${role}`,
  ],
  ["that may create tables", (role) => `grant create on schema public to ${role}`],
  ["without any rights", () => "select 1"],
])("settleAsOf() is not held back by a session of a role %s", async (_, setUp) => {
  await using db = await openTestDatabase();
  const api = openApiPool(db);
  {
    await using open = await holdTransactionAs(db, setUp);
    const result = await settleAsOf(api);
    expect(settled(result) > open.startedAt).toBe(true);
    expect(result.blockers).toEqual([]);
    const [{ now }] = await db.sql<[{ now: string }]>`select clock_timestamp() as now`;
    expect(await settleAsOf(api, { asOf: now })).toMatchObject({ ok: true, asOf: now });
  }
  await api.end();
});

test.each<[string, (role: string) => string]>([
  ["may insert into a tracker table", (role) => `grant insert on runs to ${role}`],
  ["may update one column of a tracker table", (role) => `grant update (title) on issues to ${role}`],
  ["may delete from a tracker table", (role) => `grant delete on issue_notes to ${role}`],
  ["can become a role that may write", (role) => `grant ulr_app to ${role}; alter role ${role} noinherit`],
  ["may write all data", (role) => `grant pg_write_all_data to ${role}`],
  ["may grant itself a role that may write", (role) => `alter role ${role} createrole`],
  ["is a superuser", (role) => `alter role ${role} superuser`],
  [
    "may write a view",
    (role) => `create view titles as select * from issues; grant insert on titles to ${role}`,
  ],
  [
    "may call a function that runs as its owner",
    () => "create function touch() returns void language sql security definer as 'select'",
  ],
  [
    "may write a table whose trigger runs as its owner",
    (role) => `
      create table inbox (id int);
      create function take() returns trigger language plpgsql security definer as 'begin return new; end';
      create trigger inbox_take after insert on inbox for each row execute function take();
      grant insert on inbox to ${role}`,
  ],
  [
    "may write a table with a rule",
    (role) => `
      create table inbox (id int);
      create rule inbox_rule as on insert to inbox do also delete from issues where false;
      grant insert on inbox to ${role}`,
  ],
  [
    "may write a partition",
    // If the table is not partitioned, adds an inheritance child. A partitioned table already has partitions.
    (role) => `
      do $$
      declare
        child text;
      begin
        if (select relkind from pg_class where oid = 'runs'::regclass) <> 'p' then
          create table runs_elsewhere () inherits (runs);
        end if;
        select inhrelid::regclass::text into child from pg_inherits where inhparent = 'runs'::regclass limit 1;
        execute 'grant insert on ' || child || ' to ${role}';
      end
      $$`,
  ],
])("settleAsOf() is held back by a session of a role that %s", async (_, setUp) => {
  await using db = await openTestDatabase();
  const api = openApiPool(db);
  {
    await using open = await holdTransactionAs(db, setUp);
    const result = await settleAsOf(api);
    expect(settled(result) < open.startedAt).toBe(true);
    expect(result.blockers).toMatchObject([
      { applicationName: "reporting", transactionStart: open.startedAt },
    ]);
  }
  await api.end();
});

test("settleAsOf() is held back by a session that wrote before its role lost the right to write", async () => {
  await using db = await openTestDatabase();
  const api = openApiPool(db);
  const role = `role_${crypto.randomUUID().slice(0, 8)}`;
  await db.admin.unsafe(
    `create role ${role} login password 'secret'; grant select, delete on runs to ${role}`,
  );
  const url = new URL(db.url);
  [url.username, url.password] = [role, "secret"];
  const pool = openPool(url.href, { applicationName: "reporting", max: 1 });
  await pool.begin(async (tx) => {
    const [{ now }] = await tx<[{ now: string }]>`select now() as now`;
    await tx`delete from runs`;
    await db.admin.unsafe(`revoke delete on runs from ${role}`);
    expect(settled(await settleAsOf(api)) < now).toBe(true);
  });
  await Promise.all([pool.end(), api.end()]);
  await db.admin.unsafe(`drop owned by ${role}; drop role ${role}`);
});

test("settleAsOf() is not held back by applications that the operator excludes", async () => {
  await using db = await openTestDatabase();
  await createRows(db.owner);
  const api = openApiPool(db);
  const open = await holdTransaction(db.sql);
  const other = await settleAsOf(api, { ignoredApplications: ["pg_dump"] });
  expect(settled(other) < open.startedAt).toBe(true);
  const ignored = await settleAsOf(api, { ignoredApplications: ["pg_dump", "test"] });
  expect(settled(ignored) > open.startedAt).toBe(true);
  await open.insertAndCommit();
  await api.end();
});

test("settleAsOf() never settles while it cannot see a session's activity", async () => {
  await using db = await openTestDatabase();
  const role = `blind_${crypto.randomUUID().slice(0, 8)}`;
  await db.admin.unsafe(`create role ${role} login password 'blind'`);
  const url = new URL(db.url);
  [url.username, url.password] = [role, "blind"];
  const blind = openPool(url.href, { applicationName: API_APPLICATION, max: 1 });
  const result = await settleAsOf(blind, { timeoutMs: 100 });
  if (result.ok || result.reason !== "unsettled") throw new Error("It settled without seeing the sessions");
  // Sessions of earlier tests may also be among the blockers.
  expect(result.blockers).toContainEqual(expect.objectContaining({ transactionStart: null }));
  expect(result.blockers.filter(({ transactionStart }) => transactionStart !== null)).toEqual([]);
  await blind.end();
  await db.admin.unsafe(`drop role ${role}`);
});

test("settleAsOf() never settles while a prepared transaction has written tracker rows", async () => {
  await using db = await openTestDatabase();
  const make = createFactory(db.sql);
  const { user, org } = await make.person();
  const project = await make.project({ orgId: org.id, ownerId: user.id });
  const gid = `prepared-${crypto.randomUUID()}`;
  await db.sql.begin(async (tx) => {
    await tx`
      insert into runs (project_id, run_number, workflow_type, "timestamp")
      values (${project.id}, 1, 'review', now())`;
    await tx.prepare(gid);
  });
  const api = openApiPool(db);
  const held = await settleAsOf(api, { timeoutMs: 100 });
  await db.sql.unsafe(`rollback prepared '${gid}'`);
  expect(held).toMatchObject({ ok: false, reason: "unsettled", blockers: [{ transactionStart: null }] });
  expect(held.blockers[0]?.applicationName).toContain(gid);
  expect((await settleAsOf(api)).ok).toBe(true);
  await api.end();
});

test("settleAsOf() returns cutoffs that always include the same rows, whatever is being written", async () => {
  await using db = await openTestDatabase();
  await createRows(db.owner);
  const api = openApiPool(db);
  const writers = openPool(db.url, { applicationName: "tracker", max: 12 });
  const seen: { asOf: string; rows: number }[] = [];
  const writing = Array.from({ length: 12 }, async (_, writer) => {
    while (seen.length < WATERMARKS) {
      await writers.begin(async (tx) => {
        await tx`insert into rows default values`;
        // Some transactions take longer, so that they are open while watermarks settle.
        if (writer % 3 === 0) await tx`select pg_sleep(0.002)`;
        await tx`insert into rows default values`;
      });
    }
  });
  while (seen.length < WATERMARKS) {
    const asOf = settled(await settleAsOf(api));
    seen.push({ asOf, rows: await countUpTo(db.sql, asOf) });
  }
  await Promise.all(writing);
  const later = [];
  for (const { asOf } of seen) later.push({ asOf, rows: await countUpTo(db.sql, asOf) });
  expect(later).toEqual(seen);
  await Promise.all([api.end(), writers.end()]);
});
