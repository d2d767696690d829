/** `bun run bench http`, `models` and `definitions`: reads over HTTP compared with Fastify, and the catalog sync. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundledSource } from "../../catalog-sync/source.ts";
import { readDemoDefinitions } from "../helpers/definitions/demo_definitions.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { COMMON_WORDS, makeBenchRegistry } from "./bench_data.ts";
import { type ComparedRead, compareReads } from "./http_load.ts";
import { peakBytesUntilExit } from "./machine.ts";
import { type BenchRun, median } from "./measure.ts";
import { type FigureTable, figure } from "./results.ts";
import { startComparedServers } from "./servers.ts";

/** The goal for the throughput relative to Fastify. */
const HTTP_RATIO = { atLeast: 1.5 };
const HTTP_P99_MS = { atMost: 15 };

export async function benchHttp(run: BenchRun): Promise<FigureTable[]> {
  await using db = await openTestDatabase(run.serverUrl);
  const { user, key } = await createFactory(db.sql).person();
  await db.owner`vacuum analyze users, api_keys`;
  const read = { path: `/api/v1/users/${user.id}`, headers: { Authorization: `Bearer ${key}` } };
  await using servers = await startComparedServers(run, db, [read]);
  return await compareReads(run, servers, {
    title: "One row, with a key, for 32 connections",
    reads: [{ name: "a user", ...read }],
    ratio: HTTP_RATIO,
    p99Ms: HTTP_P99_MS,
  });
}

const SYNC_ROUNDS = 3;
const MEBIBYTE = 2 ** 20;

const MODELS_RATIO = { atLeast: 2 };
const MODELS_P99_MS = { atMost: 10 };
const SYNC_MEMORY = { atMost: 200 };
const SYNC_KINDS = [
  { name: "everything is new", goal: { atMost: 2 } },
  { name: "nothing has changed", goal: { atMost: 0.5 } },
] as const;

const READS = [
  { name: "a page of 50", path: "/api/v1/models" },
  { name: "another page, 200", path: "/api/v1/models?limit=200&offset=1000" },
  { name: "a search", path: "/api/v1/models?search=claude" },
  { name: "an alias", path: "/api/v1/models/resolve/gpt-5" },
];

export async function benchModels(run: BenchRun): Promise<FigureTable[]> {
  return withLargeDocument(async (documentPath) => [
    ...(await benchAnswers(run, documentPath)),
    await benchSync(run, documentPath),
  ]);
}

async function benchAnswers(run: BenchRun, documentPath: string): Promise<FigureTable[]> {
  await using db = await openTestDatabase(run.serverUrl);
  await runSync(run.command.root, { databaseUrl: db.url, documentPath });
  await db.owner`vacuum analyze models, model_aliases`;
  await using servers = await startComparedServers(run, db);
  return await compareReads(run, servers, {
    title: `The catalog of ${MODEL_COUNT.toLocaleString("en")} models, for 32 connections`,
    reads: READS,
    ratio: MODELS_RATIO,
    p99Ms: MODELS_P99_MS,
  });
}

interface SyncReading {
  /** The duration according to the row in `catalog_syncs`. */
  seconds: number;
  processSeconds: number;
  peakBytes: number;
}

async function benchSync(run: BenchRun, documentPath: string): Promise<FigureTable> {
  const readings = new Map<string, SyncReading[]>(SYNC_KINDS.map(({ name }) => [name, []]));
  await run.command.step("Measuring syncs", async () => {
    for (let round = 0; round < SYNC_ROUNDS; round += 1) {
      run.signal.throwIfAborted();
      await using db = await openTestDatabase(run.serverUrl);
      for (const { name } of SYNC_KINDS) {
        const sync = await runSync(run.command.root, { databaseUrl: db.url, documentPath });
        const [record] = await db.sql<[{ seconds: number }]>`
          select extract(epoch from finished_at - started_at)::float8 as seconds
          from catalog_syncs
          order by id desc
          limit 1`;
        readings.get(name)?.push({ ...sync, ...record });
      }
    }
  });
  const rows = SYNC_KINDS.map(({ name, goal }) => {
    const all = readings.get(name) ?? [];
    return [
      name,
      figure(median(all.map(({ seconds }) => seconds)), 2, goal),
      figure(median(all.map(({ processSeconds }) => processSeconds)), 2),
      figure(Math.max(...all.map(({ peakBytes }) => peakBytes)) / MEBIBYTE, 0, SYNC_MEMORY),
    ];
  });
  const title = `A sync of ${MODEL_COUNT.toLocaleString("en")} models`;
  return { title, header: ["sync", "run s", "process s", "peak MiB"], rows };
}

export const MODEL_COUNT = 5276;

/** Runs `work` with the path of a copy of the bundled document. The copy's folder is deleted afterwards. */
export async function withLargeDocument<Result>(work: (path: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  try {
    const path = join(directory, "models.json");
    const loaded = await bundledSource().load({ etag: null, signal: new AbortController().signal });
    if (loaded.isUnchanged) throw new Error("Cannot make a document: the bundled one is not there");
    await writeFile(path, JSON.stringify(loaded.value));
    return await work(path);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Fills the catalog of a database from the bundled document. */
export async function seedCatalog(root: string, databaseUrl: string): Promise<void> {
  await withLargeDocument((documentPath) => runSync(root, { databaseUrl, documentPath }));
}

/** Runs one sync of a document; throws if it fails. */
export async function runSync(
  root: string,
  { databaseUrl, documentPath }: { databaseUrl: string; documentPath: string },
): Promise<{ processSeconds: number; peakBytes: number }> {
  const begun = performance.now();
  const child = Bun.spawn([process.execPath, join(root, "catalog-sync/main.ts"), "--once"], {
    env: { DATABASE_URL: databaseUrl, CATALOG_SOURCE: documentPath },
    stdout: "ignore",
    stderr: "inherit",
  });
  const [peakBytes, exitCode] = await Promise.all([peakBytesUntilExit(child), child.exited]);
  if (exitCode !== 0) throw new Error("Cannot measure: the sync failed");
  return { processSeconds: (performance.now() - begun) / 1000, peakBytes };
}

/** Starts the scheduled sync, which syncs once at startup. Its next run is not due during a measurement. */
export function startScheduledSync(
  root: string,
  { databaseUrl, documentPath }: { databaseUrl: string; documentPath: string },
): AsyncDisposable & { pid: number } {
  const child = Bun.spawn([process.execPath, join(root, "catalog-sync/main.ts")], {
    env: {
      DATABASE_URL: databaseUrl,
      CATALOG_SOURCE: documentPath,
      CATALOG_SYNC_CRON: "0 0 1 1 *",
      LOG_LEVEL: "warn",
    },
    stdout: "ignore",
    stderr: "inherit",
  });
  return {
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** The goal for the throughput relative to Fastify. */
const DEFINITIONS_RATIO = { atLeast: 1 };

export async function benchDefinitions(run: BenchRun): Promise<FigureTable[]> {
  const { command, sizes } = run;
  const lines = sizes.definitionLines.toLocaleString("en");
  await using db = await openTestDatabase(run.serverUrl);
  const { reads } = await command.step(`Making ${lines} lines with three versions each`, () =>
    makeReadRegistry(db, sizes.definitionLines),
  );
  await using servers = await startComparedServers(run, db, reads);
  const title = `A registry of ${lines} lines with three versions each, for 32 connections`;
  return await compareReads(run, servers, { title, reads, ratio: DEFINITIONS_RATIO });
}

export interface ReadRegistry {
  /** The reads to measure: one definition, a page, and searches. */
  reads: readonly ComparedRead[];
}

/** Creates this many definition lines, and stores a demo document in one public agent. */
export async function makeReadRegistry(db: TestDatabase, lines: number): Promise<ReadRegistry> {
  await makeBenchRegistry(db.owner, lines);
  const [document] = readDemoDefinitions().filter(({ type }) => type === "agent");
  const definition = await db.admin.begin(async (tx) => {
    // Triggers protect published documents, so they are disabled here.
    await tx`set local session_replication_role = replica`;
    const [row] = await tx<{ type: string; name: string }[]>`
      update definitions
      set yaml = ${document?.yaml ?? ""}, runtime_md = ${document?.yaml ?? ""}, prompt_hash = hash,
        translator_version = '1.0'
      where id = (
        select id
        from definitions
        where type = 'agent' and status = 'published' and visibility = 'public'
        order by name, version desc
        limit 1
      )
      returning type, name`;
    return row;
  });
  if (!definition) throw new Error("Cannot read definitions: nobody may see any");
  await db.owner`vacuum analyze`;
  const [word = "", other = ""] = COMMON_WORDS;
  const path = "/api/v1/definitions";
  return {
    reads: [
      {
        name: "one definition",
        path: `${path}/${definition.type}/${definition.name}`,
      },
      { name: "a page of 50", path },
      { name: "a search for a common word", path: `${path}?search=${word}` },
      { name: "a search for two words", path: `${path}?search=${word}%20${other}` },
    ],
  };
}
