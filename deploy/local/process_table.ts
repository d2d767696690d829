/** Information from the system about processes that are not our children. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return null;
  }
}

function askPs(pid: number, column: string): string | null {
  const { status, stdout } = spawnSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" });
  return status === 0 ? stdout.trim() || null : null;
}

/** Returns the parent of process `pid`; null if there is no such process. */
export function parentOf(pid: number): number | null {
  if (process.platform !== "linux") return Number(askPs(pid, "ppid")) || null;
  const stat = readProc(pid, "stat");
  // The name before the last bracket may hold spaces and brackets; state and parent follow.
  return stat === null ? null : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** Returns the command line of process `pid`; null if there is no such process, or only a zombie. */
export function commandLineOf(pid: number): string | null {
  if (process.platform !== "linux") return askPs(pid, "command");
  return readProc(pid, "cmdline")?.replaceAll("\0", " ").trim() || null;
}
