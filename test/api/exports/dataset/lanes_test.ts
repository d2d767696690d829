/** Large datasets over HTTP, which are copied on two connections while there are any to spare. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { zstdDecompressSync } from "node:zlib";
import { EXPORT_APPLICATION } from "../../../../sql/connection/application_names.ts";
import { EXPORT_LANES_MAX } from "../../../../sql/connection/lanes.ts";
import type { Pool } from "../../../../sql/connection/pool.ts";
import { AFTER_ALL, type ExportProject } from "../../../helpers/exports/export_project.ts";
import { makeLargeProject } from "../../../helpers/exports/large_project.ts";
import { beginDownload, type SlowDownload } from "../../../helpers/exports/slow_download.ts";
import { type ListeningApp, openListeningApp } from "../../../helpers/http/listening_app.ts";
import { takeEveryConnection } from "../../../helpers/postgres/open_transactions.ts";
import { openReplicatedServer } from "../../../helpers/postgres/replicated_server.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

/** 80 MB: what a stalled download, two lanes and their sockets hold on the way is 40 MB at most. */
const ROWS = 60_000;

let server: ListeningApp;
let made: Pick<ExportProject, "person" | "project">;

beforeAll(async () => {
  server = await openListeningApp({
    config: { exportStreamsMax: 4, exportStreamsPerUser: 8, exportStreamsPerOrg: 8 },
  });
  made = await makeLargeProject(server.app, ROWS);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

interface Place {
  server: ListeningApp;
  made: Pick<ExportProject, "person" | "project">;
}

function urlOf({ server, made }: Place, query: string): string {
  return `${server.origin}/api/v1/export/projects/${made.project.id}/issues?as_of=${AFTER_ALL}&${query}`;
}

async function download(place: Place, query: string, encoding = "identity"): Promise<Response> {
  const headers = { authorization: `Bearer ${place.made.person.key}`, "accept-encoding": encoding };
  return fetch(urlOf(place, query), { headers, decompress: false });
}

async function digest(place: Place, query: string): Promise<{ rows: string | null; hash: string }> {
  const response = await download(place, query);
  const hash = new Bun.CryptoHasher("sha256").update(await response.arrayBuffer()).digest("hex");
  return { rows: response.headers.get("x-export-total-rows"), hash };
}

/** A download that nobody reads on with. */
function stall(place: Place): Promise<SlowDownload> {
  return beginDownload(urlOf(place, "format=ndjson"), { authorization: `Bearer ${place.made.person.key}` });
}

/** Server processes of exports, those that are in a transaction first. */
async function listExporters(sql: Pool, database: string): Promise<{ pid: number; isOpen: boolean }[]> {
  return sql`
    select pid, xact_start is not null as is_open
    from pg_stat_activity
    where datname = ${database} and application_name = ${EXPORT_APPLICATION} and backend_type = 'client backend'
    order by is_open desc, backend_start`;
}

function databaseOf({ app }: ListeningApp): string {
  return new URL(app.db.url).pathname.slice(1);
}

async function listOpen(): Promise<number[]> {
  const exporters = await listExporters(server.app.db.sql, databaseOf(server));
  return exporters.filter(({ isOpen }) => isOpen).map(({ pid }) => pid);
}

async function untilOpen(count: number): Promise<number[]> {
  return waitFor(async () => {
    const pids = await listOpen();
    return pids.length === count ? pids : null;
  }, 20_000);
}

/** A second one that is lost while it is being opened is done without. */
async function untilBothCopy(): Promise<number[]> {
  return waitFor(async () => {
    const copying = await server.app.db.sql<{ pid: number }[]>`
      select pid
      from pg_stat_activity
      where datname = ${databaseOf(server)} and application_name = ${EXPORT_APPLICATION}
        and state = 'active' and query ilike 'copy %'
      order by backend_start`;
    return copying.length === 2 ? copying.map(({ pid }) => pid) : null;
  }, 20_000);
}

test("streams without a second connection send the same bytes and never wait for one", async () => {
  const place = { server, made };
  const formats = [
    "format=ndjson",
    "format=csv",
    "format=csv&priority=high&include_deleted=true",
    "format=parquet",
  ];
  const withLanes = await Promise.all(formats.slice(0, 1).map((query) => digest(place, query)));
  for (const query of formats.slice(1)) withLanes.push(await digest(place, query));
  const stalled = [await stall(place), await stall(place)];
  await untilOpen(2 + EXPORT_LANES_MAX);
  const withoutLanes: typeof withLanes = [];
  for (const query of formats) withoutLanes.push(await digest(place, query));
  expect(withoutLanes).toEqual(withLanes);
  expect(withLanes.map(({ rows }) => rows)).toEqual(formats.map(() => String(ROWS)));
  stalled.push(await stall(place), await stall(place));
  // All the connections that a process may have for exports.
  await untilOpen(4 + EXPORT_LANES_MAX);
  expect((await download(place, "format=csv")).status).toBe(503);
  for (const each of stalled) each[Symbol.dispose]();
  await untilOpen(0);
  expect(await digest(place, "format=ndjson")).toEqual(withLanes[0] ?? { rows: null, hash: "" });
});

test("a client that disconnects frees both connections", async () => {
  const slow = await stall({ server, made });
  await untilOpen(2);
  slow[Symbol.dispose]();
  await untilOpen(0);
});

test("either connection that is lost breaks the download, and the next is whole", async () => {
  const whole = await digest({ server, made }, "format=csv");
  for (const index of [0, 1]) {
    using slow = await stall({ server, made });
    const pids = await untilBothCopy();
    await server.app.db.sql`select pg_terminate_backend(${pids[index] ?? 0}, 5000)`;
    const result = await slow.readOn();
    expect([result.status, result.isWhole]).toEqual([200, false]);
    await untilOpen(0);
    await takeEveryConnection(server.app.deps.exportSql);
  }
  expect(await digest({ server, made }, "format=csv")).toEqual(whole);
});

test("compressed files are made of the same lines", async () => {
  const plain = await (await download({ server, made }, "format=ndjson")).bytes();
  const zstd = await (await download({ server, made }, "format=ndjson", "zstd")).bytes();
  expect(zstdDecompressSync(zstd).equals(plain)).toBe(true);
});

test("a replica gives both connections of its snapshot", async () => {
  await using servers = await openReplicatedServer();
  await using replicated = await openListeningApp({ servers });
  const large = await makeLargeProject(replicated.app, ROWS);
  const place = { server: replicated, made: large };
  using slow = await stall(place);
  await waitFor(async () => {
    const exporters = await listExporters(servers.replica, databaseOf(replicated));
    return exporters.filter(({ isOpen }) => isOpen).length === 2;
  });
  expect(await listExporters(replicated.app.db.sql, databaseOf(replicated))).toEqual([]);
  expect((await slow.readOn()).isWhole).toBe(true);
  const lines = (await (await download(place, "format=ndjson")).text()).trimEnd().split("\n");
  const titles = lines.map((line) => JSON.parse(line).title);
  expect(titles).toEqual(Array.from({ length: ROWS }, (_, index) => `Issue ${index + 1}`));
});
