/** What a start needs to know about the machine: its files, its free ports, and its running processes. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describeListenError } from "../../shared/process/listen_error.ts";

/**
 * Below the ports that Linux, macOS and Windows give to outgoing connections (from 32,768): a server that restarts on
 * its port never finds it taken by one of them.
 */
const FIRST_PORT = 20_000;
const PORT_COUNT = 10_000;
const TRIES = 20;

/** Returns the text of a file; null if it cannot be read. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Returns why a server cannot listen on the port; null if it can. */
export function findListenProblem(host: string, port: number): string | null {
  try {
    Bun.listen({ hostname: host, port, exclusive: true, socket: { data() {} } }).stop(true);
    return null;
  } catch (error) {
    return describeListenError({ host, port }, error);
  }
}

/** Returns a free port of `host`: `preferred` if it is free, else any but `reserved`, where another process will listen. */
export function chooseFreePort(host: string, preferred?: number, reserved?: number): number {
  const random = Array.from({ length: TRIES }, () => FIRST_PORT + Math.floor(Math.random() * PORT_COUNT));
  const candidates = preferred ? [preferred, ...random] : random;
  const port = candidates.find((port) => port !== reserved && findListenProblem(host, port) === null);
  if (port === undefined) throw new Error(`Cannot find a free port on ${host}`);
  return port;
}

/** Asks `ps`, where there is no /proc. */
function askPs(pid: number, column: string): string | null {
  const { status, stdout } = spawnSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" });
  return status === 0 ? stdout.trim() || null : null;
}

/** Returns the parent of process `pid`; null if there is no such process. */
export function parentOf(pid: number): number | null {
  if (process.platform !== "linux") return Number(askPs(pid, "ppid")) || null;
  const [, parent] = /^PPid:\s*(\d+)/m.exec(readText(`/proc/${pid}/status`) ?? "") ?? [];
  return parent === undefined ? null : Number(parent);
}

/** Returns the command line of process `pid`; null if there is no such process, or only a zombie. */
export function commandLineOf(pid: number): string | null {
  if (process.platform !== "linux") return askPs(pid, "command");
  return readText(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ").trim() || null;
}
