import { expect, test } from "bun:test";
import { copyRows } from "../../sql/copy_rows.ts";
import { openExportSnapshot } from "../../sql/export_snapshot.ts";
import { openPool, type Pool } from "../../sql/pool.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/database.ts";

/** About 100 MB, were it read to the end. */
const ENDLESS =
  "select row_to_json(line) from (select n, repeat('x', 1000) as filler from generate_series(1, 100000) as n) as line";

function openStreamPool(db: TestDatabase): Pool {
  return openPool(db.url, { applicationName: "test-stream", max: 1, readOnly: true });
}

const NOBODY_LEAVES = new AbortController().signal;

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(chunks)).toString();
}

/** Ends the pool's only connection from the server's side. */
async function terminate(db: TestDatabase): Promise<void> {
  await db.sql`
    select pg_terminate_backend(pid, 5000)
    from pg_stat_activity
    where datname = current_database() and application_name = 'test-stream'`;
}

/** The pool has one connection: this hangs when a stream before has left it unusable. */
async function expectUsable(pool: Pool, db: TestDatabase): Promise<void> {
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  const rows = copyRows(snapshot, "select '{}'::json", { format: "ndjson" });
  expect(await readAll(rows)).toBe("{}\n");
  await snapshot.close();
}

test("copyRows() writes a line per row, ended as the format wants", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  const query = "select to_json(t) from (values (E'a\\\\\\n\"\\x01'), ('b')) as v (t)";
  expect(await readAll(copyRows(snapshot, query, { format: "ndjson" }))).toBe('"a\\\\\\n\\"\\u0001"\n"b"\n');
  const cells = "select * from (values (1, E'a\\nb', null), (2, '', 'x\"y')) as v";
  expect(await readAll(copyRows(snapshot, cells, { format: "csv" }))).toBe('1,"a\nb",\r\n2,"","x""y"\r\n');
  await snapshot.close();
  await pool.end();
});

test("copyRows() carries rows larger than its chunks", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  const query =
    "select to_json(repeat('x', n)) from (values (10), (3000000), (1), (262144), (262142)) as v (n)";
  const lines = (await readAll(copyRows(snapshot, query, { format: "ndjson" }))).split("\n");
  expect(lines.map((line) => line.length)).toEqual([12, 3_000_002, 3, 262_146, 262_144, 0]);
  await snapshot.close();
  await pool.end();
});

test("copyRows() leaves the connection usable after every end", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const consume = async (query: string, chunks: number, signal = NOBODY_LEAVES): Promise<unknown> => {
    const snapshot = await openExportSnapshot(pool, { control: db.sql, signal });
    try {
      let read = 0;
      for await (const _ of copyRows(snapshot, query, { format: "ndjson" })) {
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
  setTimeout(() => abort.abort(), 50);
  expect(await sleeping).toBe("57014");
  await expectUsable(pool, db);
  expect(await consume(ENDLESS, 0, AbortSignal.abort()).catch((error) => error.name)).toBe("AbortError");
  await expectUsable(pool, db);
  await pool.end();
}, 20_000);

test("copyRows() throws when its connection is lost, and the next one works", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
  const rows = copyRows(snapshot, ENDLESS, { format: "ndjson" });
  await rows.next();
  await terminate(db);
  const error = await readAll(rows).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  await snapshot.close();
  await expectUsable(pool, db);
  await pool.end();
});

test("a snapshot whose connection is lost between two datasets says so, and the process lives on", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  for (const isNoticed of [true, false]) {
    const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: NOBODY_LEAVES });
    await readAll(copyRows(snapshot, "select '{}'::json", { format: "ndjson" }));
    await terminate(db);
    if (isNoticed) expect(await snapshot.lost.catch(() => "lost")).toBe("lost");
    const next = readAll(copyRows(snapshot, "select '{}'::json", { format: "ndjson" }));
    expect(await next.catch((error) => error instanceof Error)).toBe(true);
    expect(await snapshot.run((tx) => tx`select 1`).catch((error) => error instanceof Error)).toBe(true);
    await snapshot.close();
    await expectUsable(pool, db);
  }
  await pool.end();
});

test("a reader that leaves cancels whatever the snapshot is doing", async () => {
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

test("openExportSnapshot() shows nothing that was committed after its first query, and cannot write", async () => {
  await using db = await openTestDatabase();
  const pool = openStreamPool(db);
  await db.sql`create table rows (n int)`;
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
