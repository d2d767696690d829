import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { EXPORT_DATASETS, NO_FILTERS, toVisibility } from "../../../../shared/exports/datasets.ts";
import { type ExportSnapshot, openExportSnapshot } from "../../../../sql/connection/snapshot.ts";
import { copyRows } from "../../../../sql/exports/copy_rows.ts";
import { FORMATS, rowsQuery } from "../../../../sql/exports/dataset_file.ts";
import { encodeParquet } from "../../../../sql/exports/parquet/encode_parquet.ts";
import type { ExportSelection } from "../../../../sql/exports/select_rows.ts";
import { AFTER_ALL } from "../../../helpers/exports/export_project.ts";
import { makeLargeProject } from "../../../helpers/exports/large_project.ts";
import { readNdjson, readParquet } from "../../../helpers/exports/parquet_file.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

const { issues } = EXPORT_DATASETS;
/** More rows than fit in a Parquet page, which holds 16,384. */
const ROWS = 20_000;
const MEBIBYTE = 2 ** 20;

let app: TestApp;
let snapshot: ExportSnapshot;
let selection: ExportSelection;

beforeAll(async () => {
  app = await openTestApp();
  const { project } = await makeLargeProject(app, ROWS);
  const visibility = toVisibility({});
  selection = {
    trackerSchema: "public",
    projectId: project.id,
    asOf: AFTER_ALL,
    visibility,
    filters: NO_FILTERS,
  };
});

afterAll(async () => {
  await app[Symbol.asyncDispose]();
});

// Opens a snapshot for each test, because ending a copy early aborts the transaction.
beforeEach(async () => {
  const { exportSql, sql } = app.deps;
  snapshot = await openExportSnapshot(exportSql, { control: sql, signal: new AbortController().signal });
});

afterEach(async () => {
  await snapshot.close();
});

function copy(format: "ndjson" | "parquet"): AsyncGenerator<Uint8Array, void, void> {
  return copyRows(snapshot, rowsQuery(issues, selection, format), FORMATS[format].copy([]));
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

test("keeps row groups near their size limit, with the same rows in the same order as NDJSON", async () => {
  const ndjson = readNdjson((await readAll(copy("ndjson"))).toString(), "issues");
  const meter = { rows: 0 };
  const bytes = await readAll(encodeParquet(copy("parquet"), issues, { meter, rowGroupBytes: 4 * MEBIBYTE }));
  const { rows, groups } = await readParquet(bytes, "issues");
  expect(rows).toEqual(ndjson);
  expect(meter.rows).toBe(ROWS);
  expect(groups.length).toBeGreaterThan(3);
  for (const group of groups) expect(group.bytes).toBeLessThan(4.5 * MEBIBYTE);
});

test("holds one row group at a time, and reads the next group only after the consumer takes the last chunk", async () => {
  const meter = { rows: 0 };
  const chunks: Uint8Array[] = [];
  const taken = new Set<number>();
  for await (const chunk of encodeParquet(copy("parquet"), issues, { meter, rowGroupBytes: 4 * MEBIBYTE })) {
    chunks.push(chunk);
    taken.add(meter.rows);
  }
  const { groups } = await readParquet(Buffer.concat(chunks), "issues");
  let rows = 0;
  const ends = groups.map((group) => (rows += group.rows));
  expect(ends.length).toBeGreaterThan(3);
  expect([...taken]).toEqual(ends);
});

test("writes several pages of a column in a file with one row group", async () => {
  const ndjson = readNdjson((await readAll(copy("ndjson"))).toString(), "issues");
  const { rows, groups } = await readParquet(await readAll(encodeParquet(copy("parquet"), issues)), "issues");
  expect(rows).toEqual(ndjson);
  expect(groups.map((group) => group.rows)).toEqual([ROWS]);
});

test("rethrows an error of the row stream and writes no footer", async () => {
  async function* broken(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of copy("parquet")) {
      yield chunk;
      throw new Error("the connection is gone");
    }
  }
  const chunks: Uint8Array[] = [];
  const read = async (): Promise<void> => {
    for await (const chunk of encodeParquet(broken(), issues, { rowGroupBytes: 1 })) chunks.push(chunk);
  };
  const error = await read().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: "the connection is gone" });
  expect(Buffer.concat(chunks).subarray(-4).toString("latin1")).not.toBe("PAR1");
});

test("ends the copy when the reader stops", async () => {
  let hasEnded = false;
  async function* watched(): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* copy("parquet");
    } finally {
      hasEnded = true;
    }
  }
  const chunks = encodeParquet(watched(), issues, { rowGroupBytes: 4 * MEBIBYTE });
  const first = await chunks.next();
  expect(Buffer.from(first.value ?? []).toString("latin1", 0, 4)).toBe("PAR1");
  await chunks.return();
  expect(hasEnded).toBe(true);
});
