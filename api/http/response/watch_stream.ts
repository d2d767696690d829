/** Watches a running stream, and ends it if it lasts too long, its reader is too slow, or the caller has lost access. */
import type { Permit } from "../limits/semaphore.ts";
import type { CutReason } from "../request_context.ts";
import { PACE_RULE, type PaceRule, type ReaderPace } from "./slow_reader.ts";

export interface StreamRules extends PaceRule {
  /** Maximum duration in milliseconds. */
  maxMs: number;
  /** Milliseconds between two checks of the caller's rights. */
  accessCheckMs: number;
}

/** Rights are checked every 25 s, so that a stream ends within 30 s. */
export const STREAM_RULES: Omit<StreamRules, "maxMs"> = { ...PACE_RULE, accessCheckMs: 25_000 };

export interface StreamWatch {
  rules: StreamRules;
  /** The slot of the stream, which others may be waiting for. */
  permit: Permit;
  /** Returns whether the caller still has access. Never throws. */
  mayContinue: () => Promise<boolean>;
}

/** Checks for a slow reader per window. */
const CHECKS_PER_WINDOW = 12;

/** Watches a stream and calls `cut` once if it has to end. Returns a function that stops the watch. */
export function watchStream(
  { rules, permit, mayContinue }: StreamWatch,
  options: { pace: ReaderPace; cut: (reason: CutReason) => void },
): () => void {
  let isStopped = false;
  let isChecking = false;
  const cut = (reason: CutReason): void => {
    if (isStopped) return;
    stop();
    options.cut(reason);
  };
  const checkAccess = async (): Promise<void> => {
    // One check at a time, also if the database is slow.
    if (isChecking) return;
    isChecking = true;
    if (!(await mayContinue())) cut("access_ended");
    isChecking = false;
  };
  const timers = [
    setTimeout(() => cut("lasted_too_long"), rules.maxMs),
    setInterval(() => void checkAccess(), rules.accessCheckMs),
    setInterval(() => {
      if (options.pace.mustYield(permit, performance.now())) cut("reader_too_slow");
    }, rules.slowWindowMs / CHECKS_PER_WINDOW),
  ];
  const stop = (): void => {
    isStopped = true;
    for (const timer of timers) clearTimeout(timer);
  };
  return stop;
}
