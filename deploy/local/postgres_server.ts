/** Starts the server and stops one that a killed start has left; `postmaster.pid` says whether it runs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chooseFreePort, commandLineOf, readText } from "./machine.ts";
import { type Cluster, runProgram, spawnProgram } from "./postgres_cluster.ts";
import { type Child, pollUntil } from "./supervisor.ts";

export const HOST = "127.0.0.1";
/** Crash recovery may read gigabytes before the server is ready. */
const READY_TIMEOUT_MS = 300_000;
/** Another program may take the port in between, and a server of a killed start needs a moment to begin or to end. */
const ATTEMPTS = 10;
const RETRYABLE =
  /could not bind|Address already in use|pre-existing shared memory|lock file .* already exists/;
const SHUTDOWN_MS = 20_000;
const SETTINGS = {
  listen_addresses: HOST,
  // No Unix socket: it would need a folder, and clients use TCP.
  unix_socket_directories: "",
  timezone: "UTC",
  log_timezone: "UTC",
};

export interface ServerOptions {
  logPath: string;
  settings: Readonly<Record<string, string>>;
  preferredPort?: number;
}

function readPidFile(directory: string): string {
  return readText(join(directory, "postmaster.pid")) ?? "";
}

/**
 * Returns the pid of the server on `directory`; null if none runs. The file is not enough: a killed server leaves it,
 * and its pid may then belong to a zombie or another program.
 */
export function findPostmaster(directory: string): number | null {
  const pid = Number.parseInt(readPidFile(directory), 10);
  return commandLineOf(pid)?.includes(directory) ? pid : null;
}

/** Prepares the cluster for a start or for single-user mode: stops a server that a killed start has left. */
export async function clearLeftovers(cluster: Cluster): Promise<void> {
  const { path } = cluster;
  // The next start recovers what was committed.
  const args = ["stop", "-D", path, "--mode=immediate", `--timeout=${SHUTDOWN_MS / 1000}`];
  if (findPostmaster(path) !== null) {
    await runProgram(cluster, "pg_ctl", args).catch((error: unknown) => {
      // It fails too if the server has just ended by itself, as after a start that was killed while it stopped.
      if (findPostmaster(path) !== null) throw error;
    });
  }
  // PostgreSQL takes every live pid for a running server, even a zombie's, so the file gets one that no process has. The rest of
  // it shows whether backends of that server still run.
  const text = readPidFile(path);
  if (text) writeFileSync(join(path, "postmaster.pid"), text.replace(/^-?\d+/, String(2 ** 31 - 1)));
}

function spawnServer(cluster: Cluster, options: ServerOptions, port: number): Promise<Child> {
  const settings = { ...SETTINGS, ...options.settings, port: String(port) };
  return spawnProgram(cluster, "postgres", {
    args: ["-D", cluster.path, ...Object.entries(settings).flatMap((pair) => ["-c", pair.join("=")])],
    output: { logPath: options.logPath },
    // PostgreSQL's "fast" and "immediate" shutdown.
    stopSignals: ["SIGINT", "SIGQUIT"],
    graceMs: SHUTDOWN_MS,
  });
}

/** Waits until the server accepts connections, or as a standby would; false if it does not. */
async function isAccepting({ path }: Cluster, child: Child): Promise<boolean> {
  const isReady = () => {
    const lines = readPidFile(path).split("\n");
    return Number(lines[0]) === child.pid && /^(ready|standby)/.test(lines[7] ?? "");
  };
  const check = () => child.hasExited() || isReady();
  return (await pollUntil(check, { timeoutMs: READY_TIMEOUT_MS, intervalMs: 20 })) && !child.hasExited();
}

/** Starts the server, waits until it accepts connections, and returns it with its port. The supervisor stops it. */
export async function startServer(
  cluster: Cluster,
  options: ServerOptions,
): Promise<{ server: Child; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = chooseFreePort(HOST, options.preferredPort);
    const log = Bun.file(options.logPath);
    const before = log.size;
    const server = await spawnServer(cluster, options, port);
    if (await isAccepting(cluster, server)) return { server, port };
    await server.stop();
    const lines = (await log.slice(before).text()).trim().split("\n");
    const reasons = lines.filter((line) => /\b(FATAL|PANIC|ERROR|HINT):/.test(line));
    const text = (reasons.length > 0 ? reasons : lines).slice(-4).join("\n");
    if (attempt === ATTEMPTS || !RETRYABLE.test(text)) throw new Error(`Cannot start PostgreSQL: ${text}`);
    await delay(500);
    await clearLeftovers(cluster);
  }
}
