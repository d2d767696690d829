/**
 * Starts the servers to compare: the API and its peers, each in its own process with production settings, except for limits and
 * logs.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chooseFreePort } from "../../deploy/local/machine.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { openTestApp } from "../helpers/http/app.ts";
import type { TestDatabase } from "../helpers/postgres/database.ts";
import { spawnApi } from "../helpers/process/api_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { LOOP_PROBE_PORT, type LoopReading } from "./loop_probe.ts";
import { findPostmaster } from "./machine.ts";
import type { BenchRun } from "./measure.ts";
import type { RecordedStatement } from "./peers/fastify_reads.ts";

const HOST = "127.0.0.1";
const READY_PATH = "/health/ready";
const START_TIMEOUT_MS = 15_000;
const UNLIMITED = "2147483647";

export interface BenchServer extends AsyncDisposable {
  url: string;
  pid: number;
}

/** The Node.js scripts in `peers/`. */
export type PeerScript = "fastify_exports" | "fastify_reads";

/**
 * Starts the API with `env`, and with rate and size limits that no benchmark reaches. It does not log requests, because its peers
 * do not.
 */
export async function startOurs(
  databaseUrl: string,
  { dataDirectory, env = {} }: { dataDirectory?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<BenchServer> {
  const port = chooseFreePort(HOST);
  const api = spawnApi({
    DATABASE_URL: databaseUrl,
    ...(dataDirectory === undefined ? {} : { DATA_DIR: dataDirectory }),
    PORT: String(port),
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: UNLIMITED,
    RATE_LIMIT_USER_PER_MINUTE: UNLIMITED,
    EXPORT_SYNC_MAX_ROWS: "10000000",
    EXPORT_BUNDLE_MAX_ROWS: "10000000",
    EXPORT_JOBS_PER_HOUR: "1000",
    EXPORT_STREAMS_PER_USER: "8",
    EXPORT_STREAMS_PER_ORG: "8",
    LOG_LEVEL: "warn",
    // A load sets the client's address per connection, as a proxy does.
    TRUST_PROXY: "1",
    ...env,
  });
  return untilReady({ ...api, url: `http://${HOST}:${port}` });
}

/** Starts a peer on Node.js. */
export async function startPeer(
  root: string,
  {
    script,
    databaseUrl,
    env = {},
  }: { script: PeerScript; databaseUrl: string; env?: Record<string, string> },
): Promise<BenchServer> {
  const port = chooseFreePort(HOST);
  const path = join(root, "test/bench/peers", `${script}.ts`);
  const command = ["node", await buildForNode(root, path)];
  const child = Bun.spawn(command, {
    env: { ...process.env, DATABASE_URL: databaseUrl, PORT: String(port), NODE_ENV: "production", ...env },
    stdout: "ignore",
    stderr: "inherit",
  });
  return untilReady({
    url: `http://${HOST}:${port}`,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  });
}

/** Bundles a TypeScript script for Node.js. The output is in a folder from which Node.js finds the packages. */
async function buildForNode(root: string, path: string): Promise<string> {
  const built = await Bun.build({
    entrypoints: [path],
    outdir: join(root, "test/bench/node_modules/.cache"),
    naming: "[name].mjs",
    target: "node",
    packages: "external",
  });
  const [script] = built.outputs;
  if (!script) throw new Error(`Cannot build ${path}`);
  return script.path;
}

async function untilReady({ url, pid, [Symbol.asyncDispose]: dispose }: BenchServer): Promise<BenchServer> {
  const isReady = async () => (await fetch(`${url}${READY_PATH}`).catch(() => null))?.ok;
  try {
    await waitFor(isReady, START_TIMEOUT_MS);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { url, pid, [Symbol.asyncDispose]: dispose };
}

const PROBE = fileURLToPath(new URL("loop_probe.ts", import.meta.url));

export interface ProbedServer extends BenchServer {
  /** Returns the measurements of the event loop since the last call. */
  readLoop: () => Promise<LoopReading>;
}

export async function startProbed(databaseUrl: string): Promise<ProbedServer> {
  const probePort = String(chooseFreePort(HOST));
  const env = { [LOOP_PROBE_PORT]: probePort, BUN_OPTIONS: `--preload ${PROBE}` };
  const ours = await startOurs(databaseUrl, { env });
  const readLoop = async () => (await (await fetch(`http://${HOST}:${probePort}/`)).json()) as LoopReading;
  return { ...ours, readLoop };
}

export interface ComparedServers {
  ours: BenchServer;
  fastify: BenchServer;
  /** The process id of the postmaster. */
  postmaster: number;
}

/** The rate of a busy tracker. Commits keep servers from benefiting from cached results. */
const COMMITS_PER_SECOND = 200;
const COMMIT_TICK_MS = 5;

/**
 * Starts the API and the peer of reads on one database, to which another client commits continuously. The peer replays the API's
 * statements for the reads in `sameSql`.
 */
export async function startComparedServers(
  { command: { root } }: BenchRun,
  db: TestDatabase,
  sameSql: readonly RecordedRead[] = [],
): Promise<ComparedServers & AsyncDisposable> {
  const { url: databaseUrl, sql, owner } = db;
  const statements = await recordStatements(db, sameSql);
  await using started = new AsyncDisposableStack();
  const ours = started.use(await startOurs(databaseUrl));
  const env = { STATEMENTS: JSON.stringify(statements) };
  const fastify = started.use(await startPeer(root, { script: "fastify_reads", databaseUrl, env }));
  for (const read of sameSql) await requireSameAnswer([ours, fastify], read);
  started.use(await commitSteadily(owner));
  const postmaster = await findPostmaster(sql);
  const all = started.move();
  return { ours, fastify, postmaster, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A read for which both servers run the same SQL. */
export interface RecordedRead {
  path: string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Records the statements of each read with the driver's debug hook. The credential cache is bypassed, so the statements include the
 * lookup of the key.
 */
async function recordStatements(
  db: TestDatabase,
  reads: readonly RecordedRead[],
): Promise<Record<string, RecordedStatement[]>> {
  const recorded: Record<string, RecordedStatement[]> = {};
  // The database outlives the app. The app has one connection, so only the first request opens one.
  await using app = await openTestApp({
    database: { ...db, [Symbol.asyncDispose]: async () => {} },
    config: { databasePoolMax: 1 },
  });
  const { callers, sql } = app.deps;
  callers.find = async (_hash, lookUp) => (await lookUp())?.caller ?? null;
  for (const { path, headers = {} } of reads) {
    await app.request(path, { headers });
    const statements: RecordedStatement[] = [];
    sql.options.debug = (_connection, text, values) => void statements.push({ text, values });
    await app.request(path, { headers });
    sql.options.debug = false;
    recorded[path] = statements;
  }
  return recorded;
}

async function requireSameAnswer(servers: readonly BenchServer[], read: RecordedRead): Promise<void> {
  const { path, headers = {} } = read;
  const texts = servers.map(async ({ url }) => (await fetch(url + path, { headers })).text());
  const [ours, ...others] = await Promise.all(texts);
  if (others.some((text) => text !== ours)) throw new Error(`Cannot compare: ${path} has other answers`);
}

/** Commits transactions at a steady rate until the returned object is disposed of. */
async function commitSteadily(sql: Pool): Promise<AsyncDisposable> {
  await sql`create table bench_commits (id bigint generated always as identity, at timestamptz not null default now())`;
  const start = performance.now();
  const running = new Set<Promise<unknown>>();
  let committed = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - start) / 1000) * COMMITS_PER_SECOND);
    for (; committed < due; committed += 1) {
      const commit = sql`insert into bench_commits default values`.finally(() => running.delete(commit));
      running.add(commit);
    }
  }, COMMIT_TICK_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.allSettled(running);
    },
  };
}
