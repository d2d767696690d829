/** Identifies running processes. A zombie, or a later process with the same id, does not match. */
import { readFileSync } from "node:fs";

/**
 * Returns a process's start time in clock ticks since boot. A later process with the same id has another start time.
 * Returns null for a zombie, or if the process does not exist.
 */
export function identifyProcess(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The fields after the process name: state, parent, … The name may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // The start time, field 22 of proc(5).
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Sends a signal. Does nothing if the process has exited. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
