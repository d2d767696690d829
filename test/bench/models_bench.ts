/**
 * `bun run bench models`: the catalogue's answers against a server on Fastify and node-postgres that asks the database
 * every time, and what a sync of a catalogue of today's size costs. Needs Node.js.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "../../shared/stack/bootstrap.ts";
import { chooseFreePort } from "../../shared/stack/ports.ts";
import { spawnApi } from "../helpers/api_process.ts";
import { openTestDatabase } from "../helpers/database.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type LoadResult, runLoad } from "./http_load.ts";
import { formatTable, median } from "./measure.ts";
import { MODEL_COUNT, makeLargeDocument } from "./models_data.ts";

const HOST = "127.0.0.1";
const CONNECTIONS = 32;
const ROUNDS = 5;
const SECONDS = 2;
const WARM_UP_SECONDS = 1;
const SYNC_ROUNDS = 3;
const MEBIBYTE = 2 ** 20;

const PATHS = {
  "a page of 50": "/api/v1/models",
  "another page, 200": "/api/v1/models?limit=200&offset=1000",
  "an alias": "/api/v1/models/resolve/gpt-5",
} as const;

export async function benchModels(command: Command, serverUrl: string): Promise<void> {
  process.env["TEST_DATABASE_URL"] = serverUrl;
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  try {
    const documentPath = join(directory, "models.json");
    await writeFile(documentPath, JSON.stringify(await makeLargeDocument()));
    say(`A sync of ${MODEL_COUNT.toLocaleString("en")} models`, await benchSync(command, documentPath));
    say(
      `${CONNECTIONS} connections, against Fastify and node-postgres on Node.js`,
      await benchAnswers(command, documentPath),
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}

function say(title: string, table: string): void {
  process.stdout.write(`\n${title}\n\n${table}\n`);
}

interface SyncRun {
  /** From the run's own record. */
  seconds: number;
  processSeconds: number;
  peakMebibytes: number;
}

/** Runs the sync as a process of its own, as it is in production. */
async function runSync(
  root: string,
  databaseUrl: string,
  documentPath: string,
): Promise<Omit<SyncRun, "seconds">> {
  const begun = performance.now();
  const child = Bun.spawn([process.execPath, join(root, "catalog-sync/main.ts"), "--once"], {
    env: { DATABASE_URL: databaseUrl, CATALOG_SOURCE: documentPath },
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("Cannot measure: the sync failed");
  return {
    processSeconds: (performance.now() - begun) / 1000,
    peakMebibytes: (child.resourceUsage()?.maxRSS ?? Number.NaN) / MEBIBYTE,
  };
}

async function benchSync({ root }: Command, documentPath: string): Promise<string> {
  const kinds = { "everything is new": [] as SyncRun[], "nothing has changed": [] as SyncRun[] };
  for (let round = 0; round < SYNC_ROUNDS; round += 1) {
    await using db = await openTestDatabase();
    for (const runs of Object.values(kinds)) {
      const run = await runSync(root, db.url, documentPath);
      const [record] = await db.sql<[{ seconds: number }]>`
        select extract(epoch from finished_at - started_at)::float8 as seconds
        from catalog_syncs
        order by id desc
        limit 1`;
      runs.push({ ...run, seconds: record.seconds });
    }
  }
  const rows = Object.entries(kinds).map(([name, runs]) => [
    name,
    median(runs.map(({ seconds }) => seconds)).toFixed(2),
    median(runs.map(({ processSeconds }) => processSeconds)).toFixed(2),
    Math.max(...runs.map(({ peakMebibytes }) => peakMebibytes)).toFixed(0),
  ]);
  return formatTable(["sync", "run s", "process s", "peak MiB"], rows);
}

async function benchAnswers({ root }: Command, documentPath: string): Promise<string> {
  await using db = await openTestDatabase();
  await runSync(root, db.url, documentPath);
  await db.sql`vacuum analyze models, model_aliases`;
  await using api = await startOurs(db.url);
  await using peer = await startPeer(root, db.url);
  const rows: string[][] = [];
  for (const [name, path] of Object.entries(PATHS)) {
    const [ours, theirs] = await compareLoads([`${api.url}${path}`, `${peer.url}${path}`]);
    rows.push([
      name,
      ours.requestsPerSecond.toFixed(0),
      theirs.requestsPerSecond.toFixed(0),
      (ours.requestsPerSecond / theirs.requestsPerSecond).toFixed(1),
      ours.p99Ms.toFixed(1),
      theirs.p99Ms.toFixed(1),
    ]);
  }
  return formatTable(["answer", "req/s", "peer req/s", "ratio", "p99 ms", "peer p99 ms"], rows);
}

/** Puts the same load on both in turn, and returns the medians of the rounds after the first. */
async function compareLoads(urls: readonly [string, string]): Promise<[LoadResult, LoadResult]> {
  const results: [LoadResult[], LoadResult[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const seconds = round === 0 ? WARM_UP_SECONDS : SECONDS;
    for (const [index, url] of urls.entries()) {
      const result = await runLoad({ url, connections: CONNECTIONS, seconds });
      if (round > 0) results[index]?.push(result);
    }
  }
  return [medianOf(results[0]), medianOf(results[1])];
}

function medianOf(results: readonly LoadResult[]): LoadResult {
  return {
    requestsPerSecond: median(results.map(({ requestsPerSecond }) => requestsPerSecond)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
  };
}

/** The API without a line for every request, as its peer has none. */
async function startOurs(databaseUrl: string): Promise<AsyncDisposable & { url: string }> {
  const port = await chooseFreePort(HOST);
  const api = spawnApi({
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: "2147483647",
    LOG_LEVEL: "warn",
  });
  const url = `http://${HOST}:${port}`;
  await waitUntilReady(`${url}/health/ready`);
  return { url, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

async function waitUntilReady(url: string): Promise<void> {
  await waitFor(async () => (await fetch(url).catch(() => null))?.ok, 15_000);
}

/** Node.js reads no TypeScript; the packages are found from where the script lies. */
async function startPeer(root: string, databaseUrl: string): Promise<AsyncDisposable & { url: string }> {
  const built = await Bun.build({
    entrypoints: [join(root, "test/bench/models_peer.ts")],
    outdir: join(root, "node_modules/.cache/bench"),
    naming: "[name].mjs",
    target: "node",
    packages: "external",
  });
  const [script] = built.outputs;
  if (!script) throw new Error("Cannot build the peer");
  const port = await chooseFreePort(HOST);
  const child = Bun.spawn(["node", script.path], {
    env: { ...process.env, DATABASE_URL: databaseUrl, PORT: String(port), NODE_ENV: "production" },
    stdout: "ignore",
    stderr: "inherit",
  });
  const url = `http://${HOST}:${port}`;
  await waitUntilReady(`${url}/api/v1/models?limit=1`);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
