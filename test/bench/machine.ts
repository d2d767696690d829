/** Reads the CPU time and memory of processes from /proc, and describes the machine for RESULTS.md. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import type { Command } from "../../deploy/local/bootstrap.ts";
import { openPool, type Sql } from "../../sql/connection/pool.ts";
import type { Facts } from "./results.ts";

/** `USER_HZ`, the unit of CPU times in /proc. It is a hundredth of a second on every Linux. */
const TICKS_PER_SECOND = 100;
const POLL_MS = 5;

interface ProcessTimes {
  parent: number;
  own: number;
  /** The CPU time of children that have exited. */
  ended: number;
}

/** Returns the CPU seconds that a process has used so far, without its children. */
export async function cpuSeconds(pid: number): Promise<number> {
  return (await readTimes(pid)).own;
}

/** Returns the CPU milliseconds that a single-threaded process has used so far, with nanosecond precision. */
export async function busyMs(pid: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${pid}/schedstat`, "utf8")).split(" ");
  return Number(nanoseconds) / 1e6;
}

/** Returns the CPU seconds that PostgreSQL has used so far, in the postmaster and all its child processes. */
export async function serverCpuSeconds(postmaster: number): Promise<number> {
  const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  // Running processes are read before the total of exited ones. A process that exits in between is counted twice rather
  // than not at all.
  const running = await Promise.all(pids.map((pid) => readTimes(pid).catch(() => null)));
  const { own, ended } = await readTimes(postmaster);
  return running.reduce((sum, times) => (times?.parent === postmaster ? sum + times.own : sum), own + ended);
}

/** Returns the process id of the postmaster, which must run on this machine. */
export async function findPostmaster(sql: Sql): Promise<number> {
  const [{ pid }] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
  return (await readTimes(pid)).parent;
}

async function readTimes(pid: number): Promise<ProcessTimes> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The second field is the process name in parentheses, which may contain any character. The third field is the state.
  const [, parent, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = (field: number): number => Number(rest[field - 5]) / TICKS_PER_SECOND;
  return { parent: Number(parent), own: ticks(14) + ticks(15), ended: ticks(16) + ticks(17) };
}

/** Returns the current memory of a process in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  return readStatus(pid, "VmRSS");
}

/** Returns the peak memory of a process since `resetPeak`, in bytes. */
export async function peakBytes(pid: number): Promise<number> {
  return readStatus(pid, "VmHWM");
}

/**
 * Returns the peak memory of a child until it exits, in bytes, read every few milliseconds. The child's `maxRSS` would
 * be wrong, because Linux includes the memory of the parent process in it.
 */
export async function peakBytesUntilExit(child: Bun.Subprocess): Promise<number> {
  let peak = 0;
  while (child.exitCode === null && child.signalCode === null) {
    peak = Math.max(peak, await peakBytes(child.pid).catch(() => 0));
    await Bun.sleep(POLL_MS);
  }
  return peak;
}

/** Resets the peak memory of a process to its current memory. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, "5");
}

async function readStatus(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const [, kibibytes = "0"] = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
  return Number(kibibytes) * 1024;
}

const GIBIBYTE = 2 ** 30;

/** Returns the facts about the machine. Throws if psql or Node.js is missing. Node.js runs the peers. */
export async function describeMachine({ env }: Command, serverUrl: string): Promise<Facts> {
  const [processor] = cpus();
  return {
    CPU: `${processor?.model.trim() ?? "unknown"}, ${availableParallelism()} cores`,
    Memory: `${(totalmem() / GIBIBYTE).toFixed(1)} GiB`,
    System: await systemName(),
    Bun: Bun.version,
    "Node.js": await firstLine(["node", "--version"], env),
    PostgreSQL: await serverVersion(serverUrl),
    psql: (await firstLine(["psql", "--version"], env)).replace("psql (PostgreSQL) ", ""),
  };
}

/**
 * Returns the measured commit, with `-dirty` if tracked files differ from it. Changes of RESULTS.md do not count,
 * because earlier runs may have written it.
 */
export async function describeCommit({ env, root }: Command): Promise<string> {
  const git = ["git", "-C", root];
  const commit = await firstLine([...git, "rev-parse", "--short=8", "HEAD"], env);
  const results = ":(exclude)test/bench/RESULTS.md";
  const changed = await firstLine([...git, "status", "--porcelain", "--untracked-files=no", results], env);
  return changed === "" ? commit : `${commit}-dirty`;
}

async function systemName(): Promise<string> {
  const release = await readFile("/etc/os-release", "utf8");
  const [, name = "unknown"] = /^PRETTY_NAME="(.+)"$/m.exec(release) ?? [];
  return name;
}

async function firstLine(command: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = Bun.spawn(command, { env, stdout: "pipe", stderr: "inherit" });
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (code !== 0) throw new Error(`Cannot run ${command.join(" ")}: exit code ${code}`);
  return text.split("\n")[0]?.trim() ?? "";
}

async function serverVersion(serverUrl: string): Promise<string> {
  const sql = openPool(serverUrl, { applicationName: "bench", max: 1 });
  try {
    const [row] = await sql<[{ version: string }]>`select current_setting('server_version') as version`;
    return row.version;
  } finally {
    await sql.end();
  }
}
