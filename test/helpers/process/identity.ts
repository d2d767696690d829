/** Distinguishes a running process from a zombie, and from a later process with the same number. */
import { readFileSync } from "node:fs";

/** Returns a text that no other process with this number will have; null for a zombie or no process. */
export function identifyProcess(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The fields after the name, which may contain spaces and brackets: state, parent, …
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // Ticks since boot, field 22 of proc(5).
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Sends a signal; a process that has exited is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
