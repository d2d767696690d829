/** Our API and a server on Fastify and node-postgres, started as processes, and the same load on both. */
import { join } from "node:path";
import { chooseFreePort } from "../../shared/stack/ports.ts";
import { spawnApi } from "../helpers/api_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type LoadResult, runLoad } from "./http_load.ts";
import { median } from "./measure.ts";

const HOST = "127.0.0.1";
export const CONNECTIONS = 32;
const ROUNDS = 5;
const SECONDS = 2;
const WARM_UP_SECONDS = 1;

/** A line of the table: both results and their ratio. */
export function compareRow(name: string, [ours, theirs]: readonly [LoadResult, LoadResult]): string[] {
  return [
    name,
    ours.requestsPerSecond.toFixed(0),
    theirs.requestsPerSecond.toFixed(0),
    (ours.requestsPerSecond / theirs.requestsPerSecond).toFixed(1),
    ours.p99Ms.toFixed(1),
    theirs.p99Ms.toFixed(1),
  ];
}

export const COMPARE_HEADER = ["answer", "req/s", "peer req/s", "ratio", "p99 ms", "peer p99 ms"];

/** Puts the same load on both in turn, and returns the medians of the rounds after the first. */
export async function compareLoads(
  urls: readonly [string, string],
  headers: Readonly<Record<string, string>> = {},
): Promise<[LoadResult, LoadResult]> {
  const results: [LoadResult[], LoadResult[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const seconds = round === 0 ? WARM_UP_SECONDS : SECONDS;
    for (const [index, url] of urls.entries()) {
      const result = await runLoad({ url, headers, connections: CONNECTIONS, seconds });
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
export async function startOurs(databaseUrl: string): Promise<AsyncDisposable & { url: string }> {
  const port = await chooseFreePort(HOST);
  const api = spawnApi({
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: "2147483647",
    RATE_LIMIT_USER_PER_MINUTE: "2147483647",
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
export async function startPeer(
  root: string,
  peer: { script: string; databaseUrl: string; readyPath: string },
): Promise<AsyncDisposable & { url: string }> {
  const built = await Bun.build({
    entrypoints: [join(root, "test/bench", peer.script)],
    outdir: join(root, "node_modules/.cache/bench"),
    naming: "[name].mjs",
    target: "node",
    packages: "external",
  });
  const [script] = built.outputs;
  if (!script) throw new Error("Cannot build the peer");
  const port = await chooseFreePort(HOST);
  const child = Bun.spawn(["node", script.path], {
    env: { ...process.env, DATABASE_URL: peer.databaseUrl, PORT: String(port), NODE_ENV: "production" },
    stdout: "ignore",
    stderr: "inherit",
  });
  const url = `http://${HOST}:${port}`;
  await waitUntilReady(`${url}${peer.readyPath}`);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
