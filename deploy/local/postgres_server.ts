/** Starts the server and finds one that a killed start has left; `postmaster.pid` says whether it runs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openLogFile } from "./log_file.ts";
import { chooseFreePort, commandLineOf, readText } from "./machine.ts";
import { type Cluster, spawnProgram } from "./postgres_cluster.ts";
import { type Child, pollUntil } from "./supervisor.ts";

export const HOST = "127.0.0.1";
/** Crash recovery may read gigabytes before the server is ready. */
const READY_TIMEOUT_MS = 300_000;
/** Another program may take the port in between, and a server of a killed start needs a moment to end. */
const ATTEMPTS = 10;
const RETRYABLE =
  /could not bind|Address already in use|pre-existing shared memory|lock file .* already exists/;
const SHUTDOWN_MS = 20_000;

export interface ServerOptions {
  /** The local address to listen on; 127.0.0.1 by default. */
  address?: string;
  logPath: string;
  settings: Readonly<Record<string, string>>;
  preferredPort?: number | undefined;
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
export async function clearLeftovers({ path }: Cluster): Promise<void> {
  const pid = findPostmaster(path);
  if (pid !== null) {
    try {
      // "Immediate shutdown": the next start recovers what was committed.
      process.kill(pid, "SIGQUIT");
    } catch {
      // It has just ended, or we lack permission; the check below decides.
    }
    const hasEnded = () => findPostmaster(path) === null;
    if (!(await pollUntil(hasEnded, { timeoutMs: SHUTDOWN_MS, intervalMs: 20 }))) {
      throw new Error(`Cannot stop PostgreSQL: process ${pid} does not end`);
    }
  }
  // PostgreSQL takes every live pid for a running server, even a zombie's, so the file gets one that no process has. The rest of
  // it shows whether backends of that server still run.
  const text = readPidFile(path);
  if (text) writeFileSync(join(path, "postmaster.pid"), text.replace(/^-?\d+/, String(2 ** 31 - 1)));
}

async function tryStart(cluster: Cluster, options: ServerOptions, port: number): Promise<Child> {
  const settings = {
    ...options.settings,
    port: String(port),
    listen_addresses: options.address ?? HOST,
    // No Unix socket: it would need a folder, and clients use TCP.
    unix_socket_directories: "",
    timezone: "UTC",
    log_timezone: "UTC",
  };
  using log = openLogFile(options.logPath);
  const child = await spawnProgram(cluster, "postgres", {
    args: ["-D", cluster.path, ...Object.entries(settings).flatMap((pair) => ["-c", pair.join("=")])],
    output: log.fd,
    // PostgreSQL's "fast" and "immediate" shutdown.
    stopSignals: ["SIGINT", "SIGQUIT"],
    graceMs: SHUTDOWN_MS,
  });
  // The last line of the file, once it accepts connections; a standby may accept none.
  const isReady = () => {
    const lines = readPidFile(cluster.path).split("\n");
    return Number(lines[0]) === child.pid && /^(ready|standby)/.test(lines[7] ?? "");
  };
  const check = () => child.hasExited() || isReady();
  const isSettled = await pollUntil(check, { timeoutMs: READY_TIMEOUT_MS, intervalMs: 20 });
  if (isSettled && !child.hasExited()) return child;
  await child.stop();
  const lines = log.lastLines(20);
  const reasons = lines.filter((line) => /\b(FATAL|PANIC|ERROR|HINT):/.test(line));
  const shown = (reasons.length > 0 ? reasons : lines).slice(-4).join("\n");
  throw new Error(`Cannot start PostgreSQL: ${shown}`);
}

/** Starts the server, waits until it accepts connections, and returns it with its port. The supervisor stops it. */
export async function startServer(
  cluster: Cluster,
  options: ServerOptions,
): Promise<{ server: Child; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await chooseFreePort(options.address ?? HOST, options.preferredPort);
    try {
      return { server: await tryStart(cluster, options, port), port };
    } catch (error) {
      if (attempt === ATTEMPTS || !RETRYABLE.test(String(error))) throw error;
      await delay(500);
      await clearLeftovers(cluster);
    }
  }
}
