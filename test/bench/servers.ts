/** What is compared: our API and its peers, each a process of its own that is set up as in production. */
import { join } from "node:path";
import { chooseFreePort } from "../../deploy/local/ports.ts";
import { spawnApi } from "../helpers/process/api_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

const HOST = "127.0.0.1";
const READY_PATH = "/health/ready";
const START_TIMEOUT_MS = 15_000;
const UNLIMITED = "2147483647";

export interface BenchServer extends AsyncDisposable {
  url: string;
  pid: number;
}

/** Scripts in `peers/` by the runtime they are for. */
export type PeerScript = "fastify_exports" | "fastify_reads" | "hono_reads";

/** The API without limits of rate or size (`env` adds to that), and without a line for every request, as its peers have none. */
export async function startOurs(
  databaseUrl: string,
  { dataDirectory, env = {} }: { dataDirectory?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<BenchServer> {
  const port = await chooseFreePort(HOST);
  const api = spawnApi({
    DATABASE_URL: databaseUrl,
    ...(dataDirectory === undefined ? {} : { DATA_DIR: dataDirectory }),
    PORT: String(port),
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: UNLIMITED,
    RATE_LIMIT_USER_PER_MINUTE: UNLIMITED,
    EXPORT_SYNC_MAX_ROWS: "10000000",
    EXPORT_BUNDLE_MAX_ROWS: "10000000",
    EXPORT_JOBS_PER_HOUR: "1000",
    LOG_LEVEL: "warn",
    ...env,
  });
  return untilReady({ ...api, url: `http://${HOST}:${port}` });
}

/** Starts a peer: that on Hono with our runtime, those on Fastify with Node.js. */
export async function startPeer(
  root: string,
  { script, databaseUrl }: { script: PeerScript; databaseUrl: string },
): Promise<BenchServer> {
  const port = await chooseFreePort(HOST);
  const path = join(root, "test/bench/peers", `${script}.ts`);
  const command =
    script === "hono_reads" ? [process.execPath, path] : ["node", await buildForNode(root, path)];
  const child = Bun.spawn(command, {
    env: { ...process.env, DATABASE_URL: databaseUrl, PORT: String(port), NODE_ENV: "production" },
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

/** Node.js reads no TypeScript; the packages are found from where the script lies. */
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
