/** Exports over a real socket: clients that disconnect or read slowly, and streams that fail midway. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import type { Config } from "../../../../shared/process/config.ts";
import { EXPORT_FORMATS } from "../../../../shared/vocabulary.ts";
import { EXPORT_APPLICATION } from "../../../../sql/connection/application_names.ts";
import type { Pool } from "../../../../sql/connection/pool.ts";
import { EXPORT_LANES_MAX } from "../../../../sql/connection/snapshot.ts";
import type { ExportProject } from "../../../helpers/exports/export_project.ts";
import { addNoise } from "../../../helpers/exports/heavy_org.ts";
import { makeLargeProject } from "../../../helpers/exports/large_project.ts";
import { beginDownload } from "../../../helpers/exports/slow_download.ts";
import { makeWideProject, WIDE_ISSUES } from "../../../helpers/exports/wide_project.ts";
import { type ListeningApp, openListeningApp } from "../../../helpers/http/listening_app.ts";
import { openTestDatabase, type TestDatabase } from "../../../helpers/postgres/database.ts";
import { createFactory } from "../../../helpers/postgres/factory.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

/** The size of the runs in MiB. Their Parquet file exceeds two row groups plus the socket buffers on both sides. */
const PARQUET_MEBIBYTES = 56;

type Made = Pick<ExportProject, "person" | "project">;

/** The database that tests share unless they change it. */
let db: TestDatabase;
let wide: Made;
/** A project whose runs hardly compress. */
let noisy: Made;

beforeAll(async () => {
  db = await openTestDatabase();
  const make = createFactory(db.sql);
  wide = await makeWideProject({ db, make });
  const person = await make.person();
  noisy = { person, project: await make.project({ orgId: person.org.id, ownerId: person.user.id }) };
  await addNoise(db, noisy.project, PARQUET_MEBIBYTES);
});

afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

function openServer(config: Partial<Config> = {}): Promise<ListeningApp> {
  return openListeningApp({ config, database: { ...db, [Symbol.asyncDispose]: async () => {} } });
}

/**
 * Counts sessions that run a COPY, or whose last statement was a COPY and whose transaction is still open. Between two
 * COPYs of one file, a session is idle in its transaction.
 */
function countOpenCopies({ app }: ListeningApp): Promise<number> {
  const { sql } = app.db;
  return countCopies(sql, sql`state <> 'idle'`);
}

/** Counts sessions that wait for the service to read the rows of a COPY, or to send the statement after the COPY. */
function countStalledCopies({ app }: ListeningApp): Promise<number> {
  const { sql } = app.db;
  return countCopies(sql, sql`state <> 'idle' and wait_event in ('ClientRead', 'ClientWrite')`);
}

/** Counts export sessions in a transaction. */
async function countOpenExports({ app }: ListeningApp): Promise<number> {
  const [row] = await app.db.sql<[{ count: number }]>`
    select count(*)
    from pg_stat_activity
    where datname = current_database() and application_name = ${EXPORT_APPLICATION} and state <> 'idle'`;
  return row.count;
}

/**
 * Waits until `countStalledCopies()` returns at least `count`. The timeout restarts whenever the number grows, because
 * the speed depends on the machine.
 */
async function untilStalled(server: ListeningApp, count: number): Promise<void> {
  for (let seen = 0; seen < count; ) {
    const before = seen;
    seen = await waitFor(async () => {
      const now = await countStalledCopies(server);
      return now > before ? now : null;
    });
  }
}

async function countCopies(sql: Pool, condition: ReturnType<Pool>): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and query like 'copy (%' and ${condition}`;
  return row.count;
}

/** Terminates the sessions whose last statement is a COPY, as an administrator might. */
async function terminateCopies({ app }: ListeningApp): Promise<void> {
  await app.db.sql`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and query like 'copy (%'`;
}

/** Sends a request without reading the response. */
async function startReading(
  { port }: ListeningApp,
  { person, project }: Made,
  path: string,
): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(
    `GET /api/v1/export/projects/${project.id}/${path} HTTP/1.1\r\nHost: localhost\r\n` +
      `Authorization: Bearer ${person.key}\r\n\r\n`,
  );
  return socket;
}

function download({ origin }: ListeningApp, made: Made, path: string, headers = {}): Promise<Response> {
  return fetch(`${origin}/api/v1/export/projects/${made.project.id}/${path}`, {
    headers: { authorization: `Bearer ${made.person.key}`, ...headers },
  });
}

/** Retries a download until the only slot is free. A 200 shows that the slot's connection still works. */
function downloadNext(server: ListeningApp, made: Made, path: string): Promise<Response> {
  return waitFor(async () => {
    const response = await download(server, made, path);
    return response.status === 200 ? response : response.body?.cancel().then(() => null);
  });
}

test("a client that disconnects ends the query and frees the slot and the connection", async () => {
  await using server = await openServer({ exportStreamsMax: 1 });
  // Each download exceeds the socket buffers. A smaller COPY could end before the test sees it.
  const downloads = [
    [wide, "issues"],
    [wide, "issues?format=csv"],
    [noisy, "runs?format=parquet"],
    [noisy, "bundle"],
  ] as const;
  const countStreams = (outcome: string) =>
    server.app.logLines.filter((line) => line["outcome"] === outcome).length;
  // An export releases its slot before it writes its log line.
  const untilLogged = (count: number) =>
    waitFor(() => countStreams("complete") === count && countStreams("aborted") === count);
  let left = 0;
  for (const [made, path] of downloads) {
    for (const leave of ["destroy", "resetAndDestroy"] as const) {
      await untilLogged(left);
      const socket = await startReading(server, made, path);
      await waitFor(async () => (await countOpenCopies(server)) > 0);
      socket[leave]();
      await waitFor(async () => (await countOpenCopies(server)) === 0);
      expect(await (await downloadNext(server, wide, "runs")).text()).toBe("");
      left += 1;
    }
  }
  await untilLogged(left);
});

test("a client that disconnects while rows are counted frees the slot and the connection", async () => {
  // This test has its own database, because it locks a table.
  await using server = await openListeningApp({ config: { exportStreamsMax: 1 } });
  const made = await makeLargeProject(server.app, 10);
  for (const path of ["issues", "bundle", "estimate"]) {
    const release = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = server.app.db.sql.begin(async (tx) => {
      await tx`lock table issues in access exclusive mode`;
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const asOf = "as_of=2026-01-02T00:00:00Z";
    const socket = await startReading(server, made, `${path}?${asOf}`);
    const countWaiting = async () => {
      const [row] = await server.app.db.sql<[{ count: number }]>`
        select count(*) from pg_stat_activity
        where datname = current_database() and application_name = ${EXPORT_APPLICATION} and wait_event_type = 'Lock'`;
      return row.count;
    };
    await waitFor(async () => (await countWaiting()) === 1);
    socket.destroy();
    await waitFor(async () => (await countWaiting()) === 0);
    const next = await downloadNext(server, made, `runs?${asOf}`);
    expect([path, next.status, await next.text()]).toEqual([path, 200, ""]);
    release.resolve();
    await holding;
  }
  // An export releases its slot before it writes its log line.
  await waitFor(() => server.app.logLines.filter((line) => line["outcome"] === "aborted").length === 3);
});

test("50 stalled readers use little memory and do not block other requests", async () => {
  await using server = await openServer({
    exportStreamsMax: 50,
    exportStreamsPerUser: 50,
    exportStreamsPerOrg: 50,
  });
  const first = await download(server, wide, "issues");
  const { byteLength } = await first.arrayBuffer();
  // The export's second connection is released after the last byte. The readers below need every connection.
  await waitFor(async () => (await countOpenExports(server)) === 0);
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const sockets = await Promise.all(Array.from({ length: 50 }, () => startReading(server, wide, "issues")));
  await untilStalled(server, 50 + EXPORT_LANES_MAX);
  expect((await fetch(`${server.origin}/api/v1/export/datasets`)).status).toBe(200);
  expect((await download(server, wide, "runs")).status).toBe(429);
  // Without a limit, the process would buffer the file 50 times. Kernel buffers are not part of its RSS.
  const grown = process.memoryUsage.rss() - before;
  expect(grown).toBeLessThan(50 * 4 * 2 ** 20);
  expect(grown).toBeLessThan((50 * byteLength) / 4);
  for (const socket of sockets) socket.destroy();
  await waitFor(async () => (await countOpenCopies(server)) === 0);
});

test("readers that stall in the middle of a bundle do not block other bundles", async () => {
  await using server = await openServer({ exportStreamsPerUser: 8, exportStreamsPerOrg: 8 });
  const small = await makeLargeProject(server.app, 10);
  // There are more readers than processors, so a limit of one bundle per processor would block the other bundles.
  const stalled = await Promise.all(
    Array.from({ length: navigator.hardwareConcurrency + 1 }, () => startReading(server, noisy, "bundle")),
  );
  await untilStalled(server, stalled.length);
  const bundle = await download(server, small, "bundle");
  expect([bundle.status, (await bundle.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
  for (const socket of stalled) socket.destroy();
  await waitFor(async () => (await countOpenCopies(server)) === 0);
});

test("a slow reader gets the whole file", async () => {
  await using server = await openServer();
  const response = await download(server, wide, "issues");
  const reader = response.body?.getReader();
  let bytes = 0;
  let lines = 0;
  for (let reads = 0; ; reads += 1) {
    const next = await reader?.read();
    if (!next || next.done) break;
    bytes += next.value.length;
    for (const byte of next.value) if (byte === 10) lines += 1;
    if (reads % 20 === 0) await Bun.sleep(5);
  }
  expect(lines).toBe(WIDE_ISSUES);
  expect(bytes).toBeGreaterThan(WIDE_ISSUES * 1000);
});

test("an NDJSON, CSV or bundle export that fails after its first byte breaks the connection", async () => {
  await using server = await openServer();
  for (const [path, made] of [
    ["issues", wide],
    ["issues?format=csv", wide],
    ["bundle", noisy],
  ] as const) {
    const socket = await startReading(server, made, path);
    await waitFor(async () => (await countStalledCopies(server)) === (path.startsWith("issues") ? 2 : 1));
    await terminateCopies(server);
    let tail = "";
    socket.on("data", (chunk) => {
      tail = (tail + chunk.toString("latin1")).slice(-5);
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.resume();
    await closed;
    // A complete response would end with a zero-length chunk.
    expect([path, tail === "0\r\n\r\n"]).toEqual([path, false]);
  }
  const failed = await waitFor(() => {
    const lines = server.app.logLines.filter((line) => line["outcome"] === "failed");
    return lines.length === 3 ? lines : null;
  });
  expect(failed.every((line) => line["level"] === "error")).toBe(true);
  const next = await download(server, wide, "runs");
  expect([next.status, await next.text()]).toEqual([200, ""]);
});

test("a Parquet export that fails after its first row group breaks the connection and has no footer", async () => {
  await using server = await openServer();
  const headers = { authorization: `Bearer ${noisy.person.key}` };
  for (const path of ["runs?format=parquet", "bundle?format=parquet"]) {
    const url = `${server.origin}/api/v1/export/projects/${noisy.project.id}/${path}`;
    using reading = await beginDownload(url, headers);
    await waitFor(async () => (await countStalledCopies(server)) === 1);
    await terminateCopies(server);
    const { status, isWhole, body } = await reading.readOn();
    expect([path, status, isWhole]).toEqual([path, 200, false]);
    // A complete Parquet file ends with PAR1, and a complete ZIP file with an end of central directory record.
    expect(body.subarray(-64).includes("PAR1")).toBe(false);
    expect(body.subarray(-64).includes("PK\x05\x06")).toBe(false);
  }
  const next = await download(server, noisy, "issue-notes");
  expect([next.status, await next.text()]).toEqual([200, ""]);
});

test("a query that fails before its first row returns 500 instead of a broken download", async () => {
  await using server = await openListeningApp();
  const made = await makeLargeProject(server.app, 10);
  // Renames a column after the service has started, so that the export's query fails.
  await server.app.db.owner`alter table issues rename column title to heading`;
  // A CSV header that is sent too early is visible only without compression, because a compressor would buffer it.
  for (const encoding of ["identity", "zstd"]) {
    for (const format of EXPORT_FORMATS) {
      const headers = { "accept-encoding": encoding };
      const response = await download(server, made, `issues?format=${format}`, headers);
      const disposition = response.headers.get("content-disposition");
      expect([format, encoding, response.status, disposition]).toEqual([format, encoding, 500, null]);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe("INTERNAL_SERVER_ERROR");
      expect(JSON.stringify(error)).not.toContain("title");
    }
  }
});

test("the response uses the client's preferred encoding", async () => {
  await using server = await openServer();
  const made = await makeLargeProject(server.app, 2000);
  const asOf = "2026-02-01T00:00:00.000Z";
  const plain = Buffer.from(await (await download(server, made, `issues?as_of=${asOf}`)).arrayBuffer());
  const get = async (acceptEncoding: string) => {
    // Bun's option `decompress: false` keeps fetch() from decompressing the response.
    const response = await fetch(
      `${server.origin}/api/v1/export/projects/${made.project.id}/issues?as_of=${asOf}`,
      {
        headers: { authorization: `Bearer ${made.person.key}`, "accept-encoding": acceptEncoding },
        decompress: false,
      },
    );
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    return {
      encoding: response.headers.get("content-encoding"),
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  };
  const gzip = await get("gzip;q=1, zstd;q=0.5, identity;q=0.1");
  expect([gzip.encoding, gunzipSync(gzip.bytes).equals(plain)]).toEqual(["gzip", true]);
  const zstd = await get("gzip, zstd");
  expect([zstd.encoding, zstdDecompressSync(zstd.bytes).equals(plain)]).toEqual(["zstd", true]);
  expect(zstd.bytes.length).toBeLessThan(plain.length / 4);
  const identity = await get("br, gzip;q=0");
  expect([identity.encoding, identity.bytes.equals(plain)]).toEqual([null, true]);
});

test("HEAD returns the headers of GET and leaves no query running", async () => {
  await using server = await openServer({ exportStreamsMax: 1 });
  const made = await makeLargeProject(server.app, 100);
  for (const path of ["issues", "bundle"]) {
    const response = await fetch(`${server.origin}/api/v1/export/projects/${made.project.id}/${path}`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${made.person.key}` },
    });
    expect([response.status, response.headers.get("x-export-total-rows"), await response.text()]).toEqual([
      200,
      "100",
      "",
    ]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    // The file's length is unknown, so the header must be absent instead of zero.
    expect(response.headers.get("content-length")).toBeNull();
  }
  expect(await countOpenCopies(server)).toBe(0);
});
