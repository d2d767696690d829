/** Orderly shutdown: named phases in sequence, each with a time limit, even if an earlier one fails. */
import type { Log } from "./log.ts";
import { withTimeout } from "./with_timeout.ts";

export interface ShutdownPhase {
  name: string;
  /** How long the phase may take before the next one begins. */
  timeoutMs: number;
  /** `reason` is the signal or event that began the shutdown. */
  run: (reason: string) => Promise<void>;
}

export interface ShutdownOptions {
  phases: readonly ShutdownPhase[];
  log: Log;
  /** Ends the process; an entry point passes `process.exit`. */
  exit: (code: number) => void;
}

/**
 * Returns the shutdown function of a process. The first call runs the phases and exits with `exitCode`, or 1 if a phase
 * failed; a second call exits at once with 1.
 */
export function createShutdown(options: ShutdownOptions): (reason: string, exitCode?: number) => void {
  const { phases, log, exit } = options;
  let hasBegun = false;

  async function leave(reason: string, exitCode: number): Promise<void> {
    let code = exitCode;
    for (const { name, timeoutMs, run } of phases) {
      try {
        await withTimeout(run(reason), timeoutMs);
      } catch (error) {
        log.error({ phase: name, err: error }, "shutdown phase failed");
        code = 1;
      }
    }
    log.info("stopped");
    exit(code);
  }

  return (reason, exitCode = 0) => {
    if (hasBegun) {
      log.warn({ reason }, "stopping at once");
      exit(1);
      return;
    }
    hasBegun = true;
    log.info({ reason }, "stopping");
    void leave(reason, exitCode);
  };
}
