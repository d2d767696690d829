import { expect, test } from "bun:test";
import { openPool, type Pool } from "../../../sql/connection/pool.ts";
import { openExportSnapshot } from "../../../sql/connection/snapshot.ts";
import { copyRows } from "../../../sql/exports/copy_rows.ts";
import { FORMATS } from "../../../sql/exports/dataset_file.ts";
import { openSlowProxy } from "../../helpers/network/slow_proxy.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";
import {
  listOpenTransactions,
  takeEveryConnection,
  untilNoneIsOpen,
} from "../../helpers/postgres/open_transactions.ts";
import { waitFor } from "../../helpers/wait_for.ts";

/** Produces about 100 MB if it is read to the end. */
const ENDLESS =
  "select row_to_json(line) from (select n, repeat('x', 1000) as filler from generate_series(1, 100000) as n) as line";

function openStreamPool(db: TestDatabase): Pool {
  return openPool(db.url, { applicationName: "test-stream", max: 1, readOnly: true });
}

const NOBODY_LEAVES = new AbortController().signal;

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(chunks)).toString();
}

/** Terminates the pool's only connection on the server. */
async function terminate(db: TestDatabase): Promise<void> {
  await db.sql`
    select pg_terminate_backend(pid, 5000)
    from pg_stat_activity
    where datname = current_database() and application_name = 'test-stream'`;
}

/** Reads one row. The pool has one connection, so this hangs if an earlier stream left the connection unusable. */
async function expectUsable(pool: Pool, db: TestDatabase): Promise<void> {
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  const rows = copyRows(snapshot, "select '{}'::json", FORMATS.ndjson.copy([]));
  expect(await readAll(rows)).toBe("{}\n");
  await snapshot.close();
}

test("copyRows() writes one line per row, with the format's line end", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  const query = "select to_json(t) from (values (E'a\\\\\\n\"\\x01'), ('b')) as v (t)";
  expect(await readAll(copyRows(snapshot, query, FORMATS.ndjson.copy([])))).toBe(
    '"a\\\\\\n\\"\\u0001"\n"b"\n',
  );
  const cells = "select * from (values (1, E'a\\nb', null), (2, '', 'x\"y')) as v";
  expect(await readAll(copyRows(snapshot, cells, FORMATS.csv.copy([])))).toBe('1,"a\nb",\r\n2,"","x""y"\r\n');
  await snapshot.close();
  await pool.end();
});

test("copyRows() yields rows larger than its chunks", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  const query =
    "select to_json(repeat('x', n)) from (values (10), (3000000), (1), (262144), (262142)) as v (n)";
  const lines = (await readAll(copyRows(snapshot, query, FORMATS.ndjson.copy([])))).split("\n");
  expect(lines.map((line) => line.length)).toEqual([12, 3_000_002, 3, 262_146, 262_144, 0]);
  await snapshot.close();
  await pool.end();
});

test("copyRows() leaves the connection usable, however the copy ends", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const consume = async (query: string, chunks: number, signal = NOBODY_LEAVES): Promise<unknown> => {
    const snapshot = await openExportSnapshot(pool, { control: db.sql, signal });
    try {
      let read = 0;
      for await (const _ of copyRows(snapshot, query, FORMATS.ndjson.copy([]))) {
        read += 1;
        if (read === chunks) return "stopped";
      }
      return "ended";
    } catch (error) {
      return error instanceof Error && "code" in error ? error.code : error;
    } finally {
      await snapshot.close();
    }
  };
  expect(await consume(ENDLESS, 1)).toBe("stopped");
  await expectUsable(pool, db);
  expect(await consume("select to_json(1 / (n - 3)) from generate_series(1, 5) as n", 0)).toBe("22012");
  await expectUsable(pool, db);
  expect(
    await consume(
      "select to_json(repeat('x', 1000) || 1 / (n - 9000)) from generate_series(1, 10000) as n",
      0,
    ),
  ).toBe("22012");
  await expectUsable(pool, db);
  expect(await consume("select no_such_column", 0)).toBe("42703");
  await expectUsable(pool, db);
  const abort = new AbortController();
  const sleeping = consume("select to_json(pg_sleep(60)::text)", 0, abort.signal);
  await waitFor(async () => {
    const [found] =
      await db.admin`select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`;
    return found !== undefined;
  });
  abort.abort();
  expect(await sleeping).toBe("57014");
  await expectUsable(pool, db);
  expect(await consume(ENDLESS, 0, AbortSignal.abort()).catch((error) => error.name)).toBe("AbortError");
  await expectUsable(pool, db);
  await pool.end();
});

test("copyRows() throws when its connection is lost, and the pool's next connection works", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  const rows = copyRows(snapshot, ENDLESS, FORMATS.ndjson.copy([]));
  await rows.next();
  await terminate(db);
  const error = await readAll(rows).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  await snapshot.close();
  await expectUsable(pool, db);
  await pool.end();
});

test("rejects reads of a snapshot whose connection is lost between two datasets, without ending the process", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  for (const isNoticed of [true, false]) {
    const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
    await readAll(copyRows(snapshot, "select '{}'::json", FORMATS.ndjson.copy([])));
    await terminate(db);
    if (isNoticed) await snapshot.ended;
    const next = readAll(copyRows(snapshot, "select '{}'::json", FORMATS.ndjson.copy([])));
    expect(await next.catch((error) => error instanceof Error)).toBe(true);
    expect(await snapshot.run((tx) => tx`select 1`).catch((error) => error instanceof Error)).toBe(true);
    await snapshot.close();
    await expectUsable(pool, db);
  }
  await pool.end();
});

test("cancels any statement of the snapshot when the reader aborts", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const abort = new AbortController();
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: abort.signal });
  const sleeping = snapshot.run((tx) => tx`select pg_sleep(60)`).catch((error) => error.code);
  setTimeout(() => abort.abort(), 20);
  expect(await sleeping).toBe("57014");
  await snapshot.close();
  await expectUsable(pool, db);
  await pool.end();
});

test("openExportSnapshot() hides rows committed after its first query, and cannot write", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  await db.owner`create table rows (n int)`;
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  await db.sql`insert into rows values (1)`;
  expect(await snapshot.run((tx) => tx`select n from rows`)).toHaveLength(0);
  const error = await snapshot
    .run((tx) => tx`insert into rows values (2)`)
    .catch((thrown: unknown) => thrown);
  expect(String(error)).toContain("read-only");
  await snapshot.close();
  await pool.end();
});

const STREAMS = ["test-stream"];

async function openCopy(pool: Pool, db: TestDatabase, query = ENDLESS) {
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  return { snapshot, rows: copyRows(snapshot, query, FORMATS.ndjson.copy([])) };
}

async function isWaitingFor(db: TestDatabase, waitEvents: readonly string[]): Promise<boolean> {
  const waiting = await db.sql`
    select from pg_stat_activity
    where datname = current_database() and application_name = 'test-stream'
      and wait_event in ${db.sql(waitEvents)}`;
  return waiting.length > 0;
}

test("ends a running COPY when its snapshot is closed, whatever the COPY is waiting for", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  {
    const { snapshot, rows } = await openCopy(pool, db);
    await rows.next();
    await snapshot.close();
    expect(await listOpenTransactions(db, STREAMS)).toEqual([]);
    // The COPY was canceled, so reading the rest must fail instead of ending normally.
    expect(await readAll(rows).catch((error: unknown) => error)).toBeInstanceOf(Error);
  }
  {
    const { snapshot, rows } = await openCopy(pool, db, "select to_json(pg_sleep(60)::text)");
    const read = readAll(rows).catch((error: unknown) => error);
    await waitFor(() => isWaitingFor(db, ["PgSleep"]));
    await snapshot.close();
    expect(await read).toBeInstanceOf(Error);
  }
  {
    const lock = await db.sql.reserve();
    await db.owner`create table locked (n int)`;
    await lock`begin`;
    await lock`lock table locked in access exclusive mode`;
    const { snapshot, rows } = await openCopy(pool, db, "select to_json(n) from locked");
    const read = readAll(rows).catch((error: unknown) => error);
    await waitFor(() => isWaitingFor(db, ["relation"]));
    await Promise.all([snapshot.close(), snapshot.close()]);
    expect(await read).toBeInstanceOf(Error);
    await lock`rollback`;
    lock.release();
  }
  {
    const { snapshot, rows } = await openCopy(pool, db);
    await rows.next();
    await Promise.all([rows.return(), snapshot.close(), rows.return()]);
  }
  expect(await listOpenTransactions(db, STREAMS)).toEqual([]);
  await expectUsable(pool, db);
  await pool.end();
});

test("rejects reads of a closed snapshot, whose connection may be in use elsewhere", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const { snapshot, rows } = await openCopy(pool, db);
  await snapshot.close();
  const refused = [snapshot.run((tx) => tx`select 1`), readAll(rows)];
  for (const step of refused) {
    expect(String(await step.catch((error: unknown) => error))).toContain("a snapshot that is closed");
  }
  await expectUsable(pool, db);
  await pool.end();
});

test("does not finish closing a snapshot before the server has ended its transaction", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  // The snapshot does not track this COPY, so closing the snapshot does not cancel it, and the driver refuses to send COMMIT. The
  // COPY does not notice that its reader is gone.
  const silent = "select repeat('x', 100000) union all select pg_sleep(600)::text";
  const source = await snapshot.run((tx) => tx.unsafe(`copy (${silent}) to stdout`).readable());
  source.on("error", () => {});
  await snapshot.close();
  // Ignores sessions without a transaction, which are about to end.
  const transactions = await db.sql`
    select from pg_stat_activity
    where datname = current_database() and application_name = 'test-stream' and xact_start is not null`;
  expect(transactions).toHaveLength(0);
  await untilNoneIsOpen(db, STREAMS);
  await expectUsable(pool, db);
  await takeEveryConnection(pool);
  await pool.end();
});

test("loses only the snapshot's connection if the network stops responding while the snapshot closes", async () => {
  await using db = await openTestDatabase();
  await using proxy = await openSlowProxy(db.url);
  const url = new URL(db.url);
  url.port = new URL(proxy.origin).port;
  const openThroughProxy = (name: string) =>
    openPool(url.href, { applicationName: name, max: 1, readOnly: true });
  for (const isControlSilent of [false, true]) {
    const pool = openThroughProxy("test-stream");
    const control = isControlSilent ? openThroughProxy("test-control") : db.sql;
    await control`select 1`;
    const snapshot = await openExportSnapshot(pool, {
      ...{ control, signal: NOBODY_LEAVES },
      closeTimeoutMs: 100,
    });
    const rows = copyRows(snapshot, ENDLESS, FORMATS.ndjson.copy([]));
    await rows.next();
    proxy.stall();
    await rows.return();
    await snapshot.close();
    proxy.recover();
    await takeEveryConnection(pool);
    await untilNoneIsOpen(db, STREAMS);
    await Promise.all([pool.end({ timeout: 0 }), isControlSilent ? control.end({ timeout: 0 }) : null]);
  }
});
