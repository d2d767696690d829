/** Large datasets over HTTP, copied over two database connections if a second one is free. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { zstdDecompressSync } from "node:zlib";
import { EXPORT_APPLICATION } from "../../../../sql/connection/application_names.ts";
import { EXPORT_LANES_MAX } from "../../../../sql/connection/snapshot.ts";
import { AFTER_ALL, type ExportProject } from "../../../helpers/exports/export_project.ts";
import { beginDownload, type SlowDownload } from "../../../helpers/exports/slow_download.ts";
import { makeWideProject, WIDE_ISSUES } from "../../../helpers/exports/wide_project.ts";
import { type ListeningApp, openListeningApp } from "../../../helpers/http/listening_app.ts";
import { takeEveryConnection } from "../../../helpers/postgres/open_transactions.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

interface Digest {
  rows: string | null;
  hash: string;
}

const FORMATS = [
  "format=ndjson",
  "format=csv",
  "format=csv&priority=high&include_deleted=true",
  "format=parquet",
] as const;

let server: ListeningApp;
let made: Pick<ExportProject, "person" | "project">;
/** The digests of exports that used two connections, by query. */
const whole = new Map<string, Digest>();

beforeAll(async () => {
  server = await openListeningApp({
    config: { exportStreamsMax: 4, exportStreamsPerUser: 8, exportStreamsPerOrg: 8 },
  });
  made = await makeWideProject(server.app);
  for (const query of FORMATS) whole.set(query, await digest(query));
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

function urlOf(query: string): string {
  return `${server.origin}/api/v1/export/projects/${made.project.id}/issues?as_of=${AFTER_ALL}&${query}`;
}

async function download(query: string, encoding = "identity"): Promise<Response> {
  const headers = { authorization: `Bearer ${made.person.key}`, "accept-encoding": encoding };
  return fetch(urlOf(query), { headers, decompress: false });
}

function hashOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

async function digest(query: string): Promise<Digest> {
  const response = await download(query);
  return { rows: response.headers.get("x-export-total-rows"), hash: hashOf(await response.bytes()) };
}

/** Starts a download whose client stops reading. */
function stall(): Promise<SlowDownload> {
  return beginDownload(urlOf("format=ndjson"), { authorization: `Bearer ${made.person.key}` });
}

/** Waits until exactly `count` export sessions are in a transaction. */
async function untilOpen(count: number): Promise<void> {
  await waitFor(async () => {
    const [row] = await server.app.db.sql<[{ count: number }]>`
      select count(*)
      from pg_stat_activity
      where datname = current_database() and application_name = ${EXPORT_APPLICATION}
        and backend_type = 'client backend' and xact_start is not null`;
    return row.count === count;
  });
}

/**
 * Waits until both connections run a COPY, and returns their process ids, oldest connection first. An export that loses
 * its second connection before both run a COPY continues with one connection.
 */
async function untilBothCopy(): Promise<number[]> {
  return waitFor(async () => {
    const copying = await server.app.db.sql<{ pid: number }[]>`
      select pid
      from pg_stat_activity
      where datname = current_database() and application_name = ${EXPORT_APPLICATION}
        and xact_start is not null and query ilike 'copy %'
      order by backend_start`;
    return copying.length === 2 ? copying.map(({ pid }) => pid) : null;
  });
}

test("streams that get no second connection send the same bytes without waiting", async () => {
  const stalled = [await stall(), await stall()];
  await untilOpen(2 + EXPORT_LANES_MAX);
  const withoutLanes = new Map<string, Digest>();
  for (const query of FORMATS) withoutLanes.set(query, await digest(query));
  expect(withoutLanes).toEqual(whole);
  expect([...whole.values()].map(({ rows }) => rows)).toEqual(FORMATS.map(() => String(WIDE_ISSUES)));
  stalled.push(await stall(), await stall());
  // The process now uses all of its export connections.
  await untilOpen(4 + EXPORT_LANES_MAX);
  expect((await download("format=csv")).status).toBe(503);
  for (const each of stalled) each[Symbol.dispose]();
  await untilOpen(0);
  expect(whole.get("format=ndjson")).toEqual(await digest("format=ndjson"));
});

test("a client that disconnects frees both connections of its export", async () => {
  const slow = await stall();
  await untilOpen(2);
  slow[Symbol.dispose]();
  await untilOpen(0);
});

test("losing either connection of an export breaks the download, and a later download is complete", async () => {
  for (const index of [0, 1]) {
    using slow = await stall();
    const pids = await untilBothCopy();
    await server.app.db.sql`select pg_terminate_backend(${pids[index] ?? 0}, 5000)`;
    const result = await slow.readOn();
    expect([result.status, result.isWhole]).toEqual([200, false]);
    await untilOpen(0);
    await takeEveryConnection(server.app.deps.exportSql);
  }
  expect(whole.get("format=csv")).toEqual(await digest("format=csv"));
});

test("an export compressed with zstd has the same content as an uncompressed export", async () => {
  const zstd = await (await download("format=ndjson", "zstd")).bytes();
  expect(whole.get("format=ndjson")?.hash).toBe(hashOf(zstdDecompressSync(zstd)));
});
