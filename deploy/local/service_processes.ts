/** The processes of `bun run start`, and how to start one. */
import { httpFetch } from "../../shared/network/http_fetch.ts";
import { openLog } from "./machine.ts";
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

/** Returns the METRICS_PORT of a process: here they share a machine. Port 0 stays 0: each process takes a free one. */
export function metricsPortOf(service: ServiceProcess, metricsPort: number): number {
  return metricsPort === 0 ? 0 : metricsPort + SERVICE_PROCESSES.indexOf(service);
}

function writeLog(name: string, logPath: string, onNotice: LaunchOptions["onNotice"]) {
  const write = openLog(logPath);
  return (line: string) => {
    write(line);
    const notice = toNotice(name, line);
    if (notice) onNotice(notice);
  };
}

/** Starts a process and waits until it is ready; throws with its last lines if it exits first. */
export async function launchProcess(service: ServiceProcess, options: LaunchOptions): Promise<Child> {
  const { name, entry, readyPath } = service;
  const { supervisor, root, env, baseUrl, logPath, onNotice } = options;
  const child = await supervisor.spawn({
    name,
    command: process.execPath,
    args: [entry],
    cwd: root,
    env,
    output: logPath === null ? "inherit" : writeLog(name, logPath, onNotice),
    stopsOnStdinEnd: true,
  });
  if (readyPath === null) return child;
  const check = async () => child.hasExited() || (await isReady(`${baseUrl}${readyPath}`));
  const settled = await pollUntil(check, { timeoutMs: READY_TIMEOUT_MS, intervalMs: READY_POLL_MS });
  if (settled && !child.hasExited()) return child;
  const reason = settled ? describeExit(await child.exited) : `not ready after ${READY_TIMEOUT_MS / 1000} s`;
  throw new Error([`Cannot start ${name}: ${reason}`, ...child.lastLines.slice(-5)].join("\n"));
}
