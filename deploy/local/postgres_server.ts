/** Starts the server with `pg_ctl` and stops it; `postmaster.pid` says whether it runs. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openLogFile } from "./log_file.ts";
import { chooseFreePort } from "./ports.ts";
import { type Cluster, runProgram } from "./postgres_setup.ts";
import { commandLineOf } from "./process_table.ts";
import { pollUntil, untilAborted } from "./wait.ts";

export const HOST = "127.0.0.1";
/** Crash recovery may read gigabytes before the server is ready. */
const READY_TIMEOUT_SECONDS = 300;
/** Another program may take the port in between, and a server of a killed start needs a moment to end. */
const ATTEMPTS = 10;
const RETRYABLE =
  /could not bind|Address already in use|pre-existing shared memory|lock file .* already exists/;
/** PostgreSQL's "fast" and "immediate" shutdown, then the kernel's; each with the time it may take. */
const SHUTDOWNS = [
  ["SIGINT", 20_000],
  ["SIGQUIT", 5000],
  ["SIGKILL", 5000],
] as const;

export interface ServerOptions {
  /** The local address to listen on; 127.0.0.1 by default. */
  address?: string;
  logPath: string;
  settings: Readonly<Record<string, string>>;
  /** The preferred port. */
  preferredPort?: number | undefined;
}

function readPidFile(directory: string): string {
  try {
    return readFileSync(join(directory, "postmaster.pid"), "utf8");
  } catch {
    return "";
  }
}

/**
 * Returns the pid of the server on `directory`; null if none runs. The file is not enough: a killed server leaves it,
 * and its pid may then belong to a zombie or another program.
 */
export function findPostmaster(directory: string): number | null {
  const pid = Number.parseInt(readPidFile(directory), 10);
  return commandLineOf(pid)?.includes(directory) ? pid : null;
}

/**
 * Replaces the pid in a killed server's file with one that no process has: PostgreSQL takes every live pid for a
 * running server, even a zombie's. The rest of the file shows whether backends of that server still run.
 */
function clearPidFile(directory: string): void {
  const text = readPidFile(directory);
  if (text) writeFileSync(join(directory, "postmaster.pid"), text.replace(/^-?\d+/, String(2 ** 31 - 1)));
}

/** Stops the server on `directory`, if one runs. Throws if it does not end. */
async function stopServer({ path, supervisor: { force } }: Cluster): Promise<void> {
  const hasEnded = () => findPostmaster(path) === null;
  for (const [signal, timeoutMs] of SHUTDOWNS) {
    const pid = findPostmaster(path);
    if (pid === null) return;
    if (force.aborted && signal === "SIGINT") continue;
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended, or we lack permission; the check below decides.
    }
    const ended = pollUntil(hasEnded, { timeoutMs, intervalMs: 20 });
    await (signal === "SIGINT" ? untilAborted(ended, force).catch(() => {}) : ended);
  }
  if (!hasEnded()) throw new Error(`Cannot stop PostgreSQL: process ${findPostmaster(path)} does not end`);
}

/** Quotes a word of a shell command. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

async function tryStart(cluster: Cluster, options: ServerOptions, port: number): Promise<void> {
  const settings = {
    ...options.settings,
    port: String(port),
    listen_addresses: options.address ?? HOST,
    // No Unix socket: it would need a folder, and clients use TCP.
    unix_socket_directories: "''",
    timezone: "UTC",
    log_timezone: "UTC",
  };
  using log = openLogFile(options.logPath);
  const flags = [
    `-D ${quote(cluster.path)}`,
    ...Object.entries(settings).map((pair) => `-c ${pair.join("=")}`),
  ];
  const code = await runProgram(cluster, "pg_ctl", {
    args: [
      ...["start", "--silent", "--wait", "--timeout", String(READY_TIMEOUT_SECONDS)],
      ...["--options", flags.join(" ")],
    ],
    // Not as an argument, which pg_ctl would hand to its shell without escaping "$".
    env: { PGDATA: cluster.path },
    // The server inherits it.
    output: log.fd,
    // Makes pg_ctl stop the server that it is starting.
    stopSignal: "SIGINT",
  });
  if (code === 0) return;
  const lines = log.lastLines(20);
  const reasons = lines.filter((line) => /\b(FATAL|PANIC|ERROR|HINT):/.test(line));
  const shown = (reasons.length > 0 ? reasons : lines).slice(-4).join("\n");
  throw new Error(`Cannot start PostgreSQL: ${shown}`);
}

/** Prepares the cluster for a start or for single-user mode: stops a server that a killed run has left. */
export async function clearLeftovers(cluster: Cluster): Promise<void> {
  await stopServer(cluster);
  clearPidFile(cluster.path);
}

/**
 * Starts the server, waits until it accepts connections, and returns its port. The supervisor stops it; `stop` does so
 * earlier.
 */
export async function startServer(
  cluster: Cluster,
  options: ServerOptions,
): Promise<{ port: number; stop: () => Promise<void> }> {
  const stop = () => stopServer(cluster);
  cluster.supervisor.onDispose(stop);
  for (let attempt = 1; ; attempt++) {
    const port = await chooseFreePort(options.address ?? HOST, options.preferredPort);
    try {
      await tryStart(cluster, options, port);
      return { port, stop };
    } catch (error) {
      if (attempt === ATTEMPTS || !RETRYABLE.test(String(error))) throw error;
      await delay(500);
      await clearLeftovers(cluster);
    }
  }
}
