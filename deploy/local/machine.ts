/** What a start asks the machine: which ports are free, and which processes run. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/**
 * Below the ports that Linux, macOS and Windows give to outgoing connections (from 32,768): a server that restarts on
 * its port never finds it taken by one of them.
 */
const FIRST_PORT = 20_000;
const PORT_COUNT = 10_000;
const TRIES = 20;

/** Messages for common errors. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken",
  EACCES: "this user may not use the port",
  EADDRNOTAVAIL: "the address is not one of this machine",
  ENOTFOUND: "the address is not known",
};

/** Returns the text of a file; null if it cannot be read. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Returns why a server cannot listen on the port; null if it can. */
export function findListenProblem(host: string, port: number): Promise<string | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (error) => {
      const code = "code" in error ? String(error.code) : error.message;
      resolve(`Cannot listen on ${host}:${port}: ${REASONS[code] ?? code}`);
    });
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

/** Returns a free port of `host`: `preferred` if it is free, else any. */
export async function chooseFreePort(host: string, preferred?: number): Promise<number> {
  const random = Array.from({ length: TRIES }, () => FIRST_PORT + Math.floor(Math.random() * PORT_COUNT));
  for (const port of preferred ? [preferred, ...random] : random) {
    if ((await findListenProblem(host, port)) === null) return port;
  }
  throw new Error(`Cannot find a free port on ${host}`);
}

/** Asks `ps`, where there is no /proc. */
function askPs(pid: number, column: string): string | null {
  const { status, stdout } = spawnSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" });
  return status === 0 ? stdout.trim() || null : null;
}

/** Returns the parent of process `pid`; null if there is no such process. */
export function parentOf(pid: number): number | null {
  if (process.platform !== "linux") return Number(askPs(pid, "ppid")) || null;
  const stat = readText(`/proc/${pid}/stat`);
  // The name before the last bracket may hold spaces and brackets; state and parent follow.
  return stat === null ? null : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** Returns the command line of process `pid`; null if there is no such process, or only a zombie. */
export function commandLineOf(pid: number): string | null {
  if (process.platform !== "linux") return askPs(pid, "command");
  return readText(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ").trim() || null;
}
