/** The processes of `bun run start`, and how to start one. */
import { httpFetch } from "../../shared/network/http_fetch.ts";
import { openLogFile, watchLog } from "./log_file.ts";
import { type Child, describeExit, pollUntil, type Supervisor } from "./supervisor.ts";
import { toNotice } from "./terminal.ts";

export interface ServiceProcess {
  name: string;
  /** Its entry file, from the repository root. */
  entry: string;
  /** Responds 200 once the process is ready; null for a process without HTTP. */
  readyPath: string | null;
}

export const SERVICE_PROCESSES: readonly ServiceProcess[] = [
  { name: "api", entry: "api/main.ts", readyPath: "/health/ready" },
  { name: "jobs", entry: "jobs/main.ts", readyPath: null },
  { name: "catalog-sync", entry: "catalog-sync/main.ts", readyPath: null },
];

const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 25;
const PROBE_MS = 1000;

export interface LaunchOptions {
  supervisor: Supervisor;
  root: string;
  env: NodeJS.ProcessEnv;
  /** Where the process listens, without a trailing slash. */
  baseUrl: string;
  /** The file for log lines; null for our own stdout. */
  logPath: string | null;
  /** Gets warnings and errors if the log goes to a file. */
  onNotice: (notice: string) => void;
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await httpFetch(url, { headersMs: PROBE_MS, idleMs: PROBE_MS });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

async function waitUntilReady(child: Child, url: string): Promise<void> {
  const check = async () => child.hasExited() || (await isReady(url));
  const settled = await pollUntil(check, { timeoutMs: READY_TIMEOUT_MS, intervalMs: READY_POLL_MS });
  if (child.hasExited()) throw new Error(`Cannot start ${child.name}: ${describeExit(await child.exited)}`);
  if (!settled) throw new Error(`Cannot start ${child.name}: not ready after ${READY_TIMEOUT_MS / 1000} s`);
}

/** Returns the METRICS_PORT of a process: here they share a machine. Port 0 stays 0: each process takes a free one. */
export function metricsPortOf(service: ServiceProcess, metricsPort: number): number {
  return metricsPort === 0 ? 0 : metricsPort + SERVICE_PROCESSES.indexOf(service);
}

/** Starts a process and waits until it is ready; throws with its last lines if it exits first. */
export async function launchProcess(service: ServiceProcess, options: LaunchOptions): Promise<Child> {
  const { name, entry, readyPath } = service;
  using log = options.logPath === null ? null : openLogFile(options.logPath);
  const child = await options.supervisor.spawn({
    name,
    command: process.execPath,
    args: [entry],
    cwd: options.root,
    env: options.env,
    output: log?.fd ?? "inherit",
    stopsOnStdinEnd: true,
  });
  if (log) {
    const watch = watchLog(log, (line) => {
      const notice = toNotice(name, line);
      if (notice) options.onNotice(notice);
    });
    void child.exited.then(() => watch[Symbol.dispose]());
  }
  if (readyPath === null) return child;
  try {
    await waitUntilReady(child, `${options.baseUrl}${readyPath}`);
  } catch (error) {
    if (!(error instanceof Error) || !log) throw error;
    throw new Error([error.message, ...log.lastLines(5)].join("\n"), { cause: error });
  }
  return child;
}
