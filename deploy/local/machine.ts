/** Reads files, finds free ports and inspects processes of this machine. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describeListenError } from "../../shared/process/listen_error.ts";

/**
 * Below the ephemeral ports of Linux, macOS and Windows (from 32,768), so no outgoing connection takes a server's port while
 * the server restarts.
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

/** Returns the reason why a server cannot listen on the port; null if it can. */
export function findListenProblem(host: string, port: number): string | null {
  try {
    Bun.listen({ hostname: host, port, exclusive: true, socket: { data() {} } }).stop(true);
    return null;
  } catch (error) {
    return describeListenError({ host, port }, error);
  }
}

/** Returns a free port of `host`: `preferred` if it is free, otherwise a random port. Never returns `reserved`. */
export function chooseFreePort(host: string, preferred?: number, reserved?: number): number {
  const random = Array.from({ length: TRIES }, () => FIRST_PORT + Math.floor(Math.random() * PORT_COUNT));
  const candidates = preferred ? [preferred, ...random] : random;
  const port = candidates.find((port) => port !== reserved && findListenProblem(host, port) === null);
  if (port === undefined) throw new Error(`Cannot find a free port on ${host}`);
  return port;
}

/** Returns a column of `ps` for a process, for systems without /proc. */
function askPs(pid: number, column: string): string | null {
  const { status, stdout } = spawnSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" });
  return status === 0 ? stdout.trim() || null : null;
}

/** Returns the parent's pid of process `pid`; null if the process does not exist. */
export function parentOf(pid: number): number | null {
  if (process.platform !== "linux") return Number(askPs(pid, "ppid")) || null;
  const [, parent] = /^PPid:\s*(\d+)/m.exec(readText(`/proc/${pid}/status`) ?? "") ?? [];
  return parent === undefined ? null : Number(parent);
}

/** Returns the command line of process `pid`; null if the process does not exist or is a zombie. */
export function commandLineOf(pid: number): string | null {
  if (process.platform !== "linux") return askPs(pid, "command");
  return readText(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ").trim() || null;
}
