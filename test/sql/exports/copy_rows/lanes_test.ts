/** Tests exports on two connections: they have the same bytes as on one connection, and leave no resources open. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import fc from "fast-check";
import { EXPORT_DATASETS, NO_FILTERS, toVisibility } from "../../../../shared/exports/datasets.ts";
import { createLog } from "../../../../shared/process/log.ts";
import { TEXT_EXPORT_FORMATS, type TextExportFormat } from "../../../../shared/vocabulary.ts";
import { openPool, type Pool, type Sql } from "../../../../sql/connection/pool.ts";
import {
  ExportLanes,
  type ExportSnapshot,
  openExportSnapshot,
  type Twin,
} from "../../../../sql/connection/snapshot.ts";
import { copyLanes, copyRows, type RowMeter } from "../../../../sql/exports/copy_rows.ts";
import {
  FORMATS,
  type KeyRange,
  KeyRanges,
  rangeQuery,
  rowsQuery,
} from "../../../../sql/exports/dataset_file.ts";
import type { ExportSelection } from "../../../../sql/exports/select_rows.ts";
import { openTestDatabase, type TestDatabase } from "../../../helpers/postgres/database.ts";
import { createFactory } from "../../../helpers/postgres/factory.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const ISSUES = EXPORT_DATASETS.issues;
const ROWS = 1200;
const FIRST_TIME = Date.UTC(2026, 0, 1);
/** Approximate size of a row's line in bytes. */
const LINE_BYTES = 1400;
/**
 * Length of a padded line in bytes. A range of 300 such lines exceeds the socket buffers, which hold up to 36 MB per connection
 * with the kernel's default limits.
 */
const LONG_LINE_BYTES = 200_000;

let db: TestDatabase;
let pool: Pool;
let lanes: ExportLanes;
let projectId: string;

beforeAll(async () => {
  db = await openTestDatabase();
  const make = createFactory(db.sql);
  const person = await make.person();
  projectId = (await make.project({ orgId: person.org.id, ownerId: person.user.id })).id;
  await insertIssues(ROWS);
});

// Each test has its own pool. Otherwise, connections held by a failed test would block all other tests.
beforeEach(() => {
  // An export uses exactly these two connections. A test that needs a third, or never releases one, hangs.
  pool = openPool(db.url, { applicationName: "test-lanes", max: 2, readOnly: true });
  const log = createLog({ level: "silent", process: "test" });
  lanes = new ExportLanes({ pool, control: db.sql, max: 1, log });
});

afterEach(() => pool.end({ timeout: 1 }));

afterAll(() => db[Symbol.asyncDispose]());

/**
 * Inserts issues in groups of 1, 2, … 20 that share their time. Half of the issues in the first third are deleted, and most issues
 * in the last third are resolved, so that some ranges are empty.
 */
async function insertIssues(rows: number): Promise<void> {
  await db.sql`
    insert into issues (
      project_id, fingerprint, title, status, priority, file_path, first_seen_run_id, last_seen_run_id, deleted_at,
      created_at
    )
    select
      ${projectId}, md5(n::text) || md5(n::text || 'x'), '=Issue "' || n || E'"\n', 
      case when n > ${(rows / 3) * 2}::int and n % 50 > 0 then 'completed' else 'open' end,
      case when n % 3 = 0 then 'critical' else 'high' end,
      repeat('x', 800), gen_random_uuid(), gen_random_uuid(),
      case when n < ${rows / 3}::int and n % 2 = 0 then now() end,
      -- The greatest k with k * (k + 1) / 2 <= n, in groups of 20.
      ${new Date(FIRST_TIME).toISOString()}::timestamptz
        + (n / 210 * 20 + floor((sqrt(8 * (n % 210) + 1) - 1) / 2)) * interval '1 millisecond'
    from generate_series(1, ${rows}::int) as n`;
}

interface Read {
  bytes: string;
  rows: number;
}

interface Lengths {
  bytes?: number;
  firstRows?: number;
}

function everything(options: Partial<ExportSelection> = {}): ExportSelection {
  const asOf = "2026-02-01T00:00:00.000Z";
  return {
    trackerSchema: "public",
    projectId,
    asOf,
    visibility: toVisibility({}),
    filters: NO_FILTERS,
    ...options,
  };
}

async function digest(chunks: AsyncIterable<Uint8Array>, meter: RowMeter): Promise<Read> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const chunk of chunks) hash.update(chunk);
  return { bytes: hash.digest("hex"), rows: meter.rows };
}

async function openFirst(signal = new AbortController().signal): Promise<ExportSnapshot> {
  return openExportSnapshot(pool, { control: db.sql, signal });
}

/** Opens a twin. Retries, because an export that ended before its second lane opened may still be closing that lane. */
function openSecond(first: ExportSnapshot): Promise<Twin> {
  return waitFor(() => lanes.openTwin(first));
}

function copyBoth(
  snapshots: readonly [ExportSnapshot, Promise<ExportSnapshot | null>],
  selection: ExportSelection,
  { format, meter, ...lengths }: { format: TextExportFormat; meter?: RowMeter } & Lengths,
): AsyncGenerator<Uint8Array, void, void> {
  const ranges = new KeyRanges(ISSUES, selection, lengths);
  const queryOf = (range: KeyRange) => rangeQuery(ISSUES, selection, { format, range });
  const nextPart = (tx: Sql) => ranges.nextPart(tx, queryOf);
  return copyLanes(snapshots, nextPart, { ...FORMATS[format].copy([]), meter });
}

/** Reads the rows of `selection` on one connection, then on two. */
async function readWith(
  selection: ExportSelection,
  options: { format: TextExportFormat } & Lengths,
): Promise<{ one: Read; two: Read }> {
  const { format } = options;
  const meters = { one: { rows: 0 }, two: { rows: 0 } };
  const first = await openFirst();
  const query = rowsQuery(ISSUES, selection, format);
  const one = await digest(
    copyRows(first, query, { ...FORMATS[format].copy([]), meter: meters.one }),
    meters.one,
  );
  const twin = await openSecond(first);
  const both = copyBoth([first, twin.opened], selection, { ...options, meter: meters.two });
  const two = await digest(both, meters.two);
  await twin.close();
  await first.close();
  return { one, two };
}

/** Returns the backend processes of the lanes and their activity, in the order in which the lanes connected. */
async function listBackends(): Promise<
  { pid: number; state: string; waitEvent: string | null; query: string }[]
> {
  return db.sql`
    select pid, state, wait_event
    from pg_stat_activity
    where datname = current_database() and application_name = 'test-lanes'
    order by backend_start`;
}

async function untilBothWait(waitEvent: string): Promise<void> {
  await waitFor(async () => {
    const waiting = (await listBackends()).filter((backend) => backend.waitEvent === waitEvent);
    return waiting.length === 2;
  });
}

/** Milliseconds without a new row after which no more rows are expected, even on a busy machine. */
const STILL_MS = 1000;

/** Waits until the reader blocks both lanes and no more rows arrive. */
async function untilHeldUp(meter: RowMeter): Promise<void> {
  let rows = -1;
  let since = 0;
  await waitFor(async () => {
    await untilBothWait("ClientWrite");
    if (meter.rows !== rows) [rows, since] = [meter.rows, performance.now()];
    return performance.now() - since > STILL_MS;
  });
}

/** Reads an export with both lanes. Hangs if a connection was not released, or was released in an unusable state. */
async function expectUsable(): Promise<void> {
  const selection = everything({ asOf: new Date(FIRST_TIME + 5).toISOString() });
  const { one, two } = await readWith(selection, { format: "ndjson", firstRows: 3, bytes: 1 });
  expect(two).toEqual(one);
  expect(one.rows).toBeGreaterThan(0);
}

/** Returns a function that builds the query for a range. Each line is padded, so that no lane can read far ahead. */
function longLines(selection: ExportSelection): (range: KeyRange) => string {
  return (range) =>
    rangeQuery(ISSUES, selection, { format: "ndjson", range }).replace(
      "row_to_json(line)",
      `json_build_object('filler', repeat('x', ${LONG_LINE_BYTES}), 'line', line)`,
    );
}

/** Starts an export, reads one chunk, and waits until both lanes are blocked. */
async function beginReading({ signal }: { signal?: AbortSignal } = {}) {
  const meter = { rows: 0 };
  const first = await openFirst(signal);
  const twin = await openSecond(first);
  const selection = everything();
  const ranges = new KeyRanges(ISSUES, selection);
  const nextPart = (tx: Sql) => ranges.nextPart(tx, longLines(selection));
  const chunks = copyLanes([first, twin.opened], nextPart, { ...FORMATS.ndjson.copy([]), meter });
  const begun = await chunks.next();
  const close = async () => {
    await twin.close();
    await first.close();
  };
  await untilHeldUp(meter);
  return { chunks, meter, selection, close, begun: Buffer.from(begun.value ?? []) };
}

test("produces the same bytes with two lanes as with one lane, for any rows, ranges and filters", async () => {
  const visibility = fc.record({
    includeDeleted: fc.boolean(),
    includeArchived: fc.constant(false),
    includeSuperseded: fc.constant(false),
    includeResolved: fc.boolean(),
  });
  const filters = fc.constantFrom(NO_FILTERS, { priority: ["critical"] }, { status: ["obsolete"] });
  // The watermark includes no rows, a few rows or all rows. Rows after the watermark are in no range.
  const lastMs = fc.oneof(fc.integer({ min: -1, max: 12 }), fc.integer({ min: 0, max: 130 }));
  const lengths = fc.record({
    firstRows: fc.integer({ min: 1, max: 300 }),
    bytes: fc.constantFrom(1, 5 * LINE_BYTES, 60 * LINE_BYTES, 4 * 2 ** 20),
  });
  await fc.assert(
    fc.asyncProperty(
      ...[visibility, filters, lastMs, lengths, fc.constantFrom(...TEXT_EXPORT_FORMATS)],
      async (visibility, filters, lastMs, lengths, format) => {
        const asOf = new Date(FIRST_TIME + lastMs).toISOString();
        const { one, two } = await readWith(everything({ visibility, filters, asOf }), {
          format,
          ...lengths,
        });
        expect(two).toEqual(one);
      },
    ),
    { numRuns: 40 },
  );
});

test("splits ranges between rows with the same time, without repeating a row", async () => {
  const selection = everything();
  const ranges = new KeyRanges(ISSUES, selection, { firstRows: 25, bytes: 1 });
  const first = await ranges.next(db.sql);
  if (!first) throw new Error("Cannot test: there is no range");
  // Ranges keep their length of 25 rows until one has been copied, so the second range ends at row 50. Rows 45 to 54 share their
  // time.
  const second = await ranges.next(db.sql);
  const [{ same } = { same: 0 }] = await db.sql<{ same: number }[]>`
    select count(*) as same
    from issues
    where project_id = ${projectId} and created_at = ${second?.upTo?.time ?? ""}::text::timestamptz`;
  expect(same).toBeGreaterThan(1);
  const texts = await Promise.all(
    [first, second].map((range) =>
      db.sql.unsafe<{ id: string }[]>(
        `select line ->> 'id' as id from (${rangeQuery(ISSUES, selection, { format: "ndjson", range: range ?? first })}) as r (line)`,
      ),
    ),
  );
  const ids = texts.flat().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("produces the same bytes if the second lane opens late or not at all", async () => {
  const selection = everything();
  const meter = { rows: 0 };
  const first = await openFirst();
  const query = rowsQuery(ISSUES, selection, "csv");
  const expected = await digest(copyRows(first, query, { ...FORMATS.csv.copy([]), meter }), meter);
  for (const isLate of [false, true]) {
    const twin = isLate ? await openSecond(first) : null;
    const joins = Promise.withResolvers<ExportSnapshot | null>();
    const again = { rows: 0 };
    const chunks = copyBoth([first, joins.promise], selection, {
      format: "csv",
      meter: again,
      firstRows: 10,
    });
    const begun = await chunks.next();
    joins.resolve((await twin?.opened) ?? null);
    const rest = async function* () {
      if (begun.value) yield begun.value;
      yield* chunks;
    };
    expect(await digest(rest(), again)).toEqual(expected);
    await twin?.close();
  }
  // The second lane opens, but the export never uses it. Closing the lane frees its connection.
  const twin = await openSecond(first);
  const nobody = Promise.resolve(null);
  expect((await digest(copyBoth([first, nobody], selection, { format: "csv" }), { rows: 0 })).bytes).toBe(
    expected.bytes,
  );
  await twin?.close();
  await first.close();
  await expectUsable();
});

test("opens a twin snapshot only while a connection is free", async () => {
  const first = await openFirst();
  const twin = await openSecond(first);
  expect(await twin.opened).not.toBeNull();
  expect(await lanes.openTwin(first)).toBeNull();
  await twin.close();
  const next = await lanes.openTwin(first);
  expect(await next?.opened).not.toBeNull();
  await next?.close();
  await first.close();
});

test("shows no changes made during the export in either lane", async () => {
  const { chunks, meter, selection, close, begun } = await beginReading();
  await db.sql`update issues set title = 'changed' where project_id = ${projectId} and priority = 'high'`;
  const [added] = await db.sql<{ id: string }[]>`
    insert into issues ${db.sql({
      projectId,
      ...{ fingerprint: "f".repeat(64), title: "added", status: "open", priority: "high" },
      ...{ firstSeenRunId: crypto.randomUUID(), lastSeenRunId: crypto.randomUUID() },
      createdAt: new Date(FIRST_TIME + 100).toISOString(),
    })}
    returning id`;
  const lines = Buffer.concat([begun, ...(await Array.fromAsync(chunks))])
    .toString()
    .trimEnd()
    .split("\n");
  const titles = lines.map((line) => JSON.parse(line).line.title);
  expect(titles.filter((title) => ["changed", "added"].includes(title))).toEqual([]);
  expect(meter.rows).toBe(lines.length);
  await close();
  const { two } = await readWith(selection, { format: "ndjson" });
  expect(two.rows).toBe(lines.length + 1);
  await db.sql`delete from issues where id = ${added?.id ?? null}`;
});

test("pauses both lanes while the reader is slow, with few lines buffered", async () => {
  const { chunks, meter, close } = await beginReading();
  expect(meter.rows * LONG_LINE_BYTES).toBeLessThan(12 * 2 ** 20);
  await chunks.return();
  await close();
  await expectUsable();
});

test("stops both lanes when the reader stops, and leaves both connections usable", async () => {
  for (const isAborted of [false, true]) {
    const leaving = new AbortController();
    const { chunks, close } = await beginReading(leaving);
    if (isAborted) leaving.abort();
    await chunks.return();
    const states = (await listBackends()).map(({ state }) => state);
    expect(states.map((state) => state.startsWith("idle in transaction"))).toEqual([true, true]);
    await close();
    expect((await listBackends()).map(({ state }) => state)).toEqual(["idle", "idle"]);
    await expectUsable();
  }
});

test("fails the next read of an export after both snapshots are closed midway", async () => {
  const { chunks, close } = await beginReading();
  await close();
  expect((await listBackends()).map(({ state }) => state)).toEqual(["idle", "idle"]);
  expect(await Array.fromAsync(chunks).catch((thrown: unknown) => thrown)).toBeInstanceOf(Error);
  await expectUsable();
});

test("stops both lanes if the reader stops while both lanes wait for the server", async () => {
  const leaving = new AbortController();
  const first = await openFirst(leaving.signal);
  const twin = await openSecond(first);
  const ranges = new KeyRanges(ISSUES, everything());
  const nextPart = (tx: Sql) => ranges.nextPart(tx, () => "select to_json(pg_sleep(60)::text)");
  const chunks = copyLanes([first, twin.opened], nextPart, FORMATS.ndjson.copy([]));
  const next = chunks.next().catch((error) => error.code);
  await untilBothWait("PgSleep");
  leaving.abort();
  expect(await next).toBe("57014");
  await twin?.close();
  await first.close();
  await expectUsable();
});

test("stops both lanes and the export if one lane loses its connection", async () => {
  for (const index of [0, 1]) {
    const { chunks, close } = await beginReading();
    const { pid } = (await listBackends())[index] ?? { pid: 0 };
    await db.sql`select pg_terminate_backend(${pid}, 5000)`;
    const rest = await Array.fromAsync(chunks).catch((thrown: unknown) => thrown);
    expect(rest).toBeInstanceOf(Error);
    expect((await listBackends()).filter(({ state }) => state === "active")).toEqual([]);
    await close();
    await expectUsable();
  }
});

test("fails the export if a range fails on either lane", async () => {
  const selection = everything();
  for (const failing of [1, 2, 3, 4]) {
    const first = await openFirst();
    const twin = await openSecond(first);
    // Uses ranges of equal length, so that more ranges follow the failing one.
    const ranges = new KeyRanges(ISSUES, selection, { firstRows: 100, bytes: 50 * LINE_BYTES });
    let count = 0;
    const queryOf = (range: KeyRange) => {
      count += 1;
      const query = rangeQuery(ISSUES, selection, { format: "csv", range });
      return count === failing
        ? query.replace("select ", "select 1 / (r.times_seen - r.times_seen), ")
        : query;
    };
    const error = await Array.fromAsync(
      copyLanes([first, twin.opened], (tx) => ranges.nextPart(tx, queryOf), FORMATS.csv.copy([])),
    ).catch((thrown) => thrown.code);
    expect(error).toBe("22012");
    await twin?.close();
    await first.close();
    // A twin that is still opening closes as soon as it is open.
    await waitFor(async () => (await listBackends()).every(({ state }) => state === "idle"));
  }
  await expectUsable();
});

test("keeps no references to finished copies in a snapshot", async () => {
  const first = await openFirst();
  const kept: WeakRef<object>[] = [];
  const copyOne = async () => {
    const meter = { rows: 0 };
    kept.push(new WeakRef(meter));
    await digest(copyRows(first, "select '{}'::json", { ...FORMATS.ndjson.copy([]), meter }), meter);
  };
  for (let copies = 0; copies < 50; copies += 1) await copyOne();
  // A few objects may survive, because the stack may still reference them.
  await waitFor(() => {
    Bun.gc(true);
    return kept.filter((meter) => meter.deref()).length < 10;
  }).finally(() => first.close());
});
