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

export interface ShutdownFailure {
  phase: string;
  error: unknown;
}

async function runPhase(phase: ShutdownPhase, reason: string): Promise<ShutdownFailure | null> {
  const { name, timeoutMs, run } = phase;
  try {
    await withTimeout(run(reason), timeoutMs);
    return null;
  } catch (error) {
    return { phase: name, error };
  }
}

/** Runs all phases in order and returns those that failed or took too long. Never throws. */
export async function runShutdown(
  phases: readonly ShutdownPhase[],
  reason: string,
): Promise<ShutdownFailure[]> {
  const failures: ShutdownFailure[] = [];
  for (const phase of phases) {
    const failure = await runPhase(phase, reason);
    if (failure) failures.push(failure);
  }
  return failures;
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
    const failures = await runShutdown(phases, reason);
    for (const { phase, error } of failures) log.error({ phase, err: error }, "shutdown phase failed");
    log.info("stopped");
    exit(failures.length > 0 ? 1 : exitCode);
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
