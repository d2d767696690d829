/** What ends a response on its way although its client is still there. */

import type { Permit } from "../semaphore.ts";
import type { PaceRule } from "./reader_pace.ts";

export interface StreamRules extends PaceRule {
  /** Longest life in milliseconds. */
  maxMs: number;
  /** Milliseconds from one look at the caller's rights to the next. */
  accessCheckMs: number;
}

/**
 * 16 KiB/s over 60 s, rights every 30 s. A reader of 20 KiB/s was seen to take nothing for 69 s, until its sockets had room
 * again; so a stalled reader is cut off after 96 s, which is 1.5 MiB at the minimum rate.
 */
export const STREAM_RULES: Omit<StreamRules, "maxMs"> = {
  slowWindowMs: 60_000,
  minBytesPerSecond: 16 * 1024,
  socketBytes: 1.5 * 2 ** 20,
  accessCheckMs: 30_000,
};

export type CutReason = "lasted_too_long" | "reader_too_slow" | "access_ended";

export interface StreamWatch {
  rules: StreamRules;
  /** What the response holds, and others may lack. */
  permit: Permit;
  /** Whether the caller may still have it. Never throws. */
  mayContinue: () => Promise<boolean>;
}

/** How often in a window slow readers are looked for. */
const CHECKS_PER_WINDOW = 12;

/**
 * Watches a response until it is over, and calls `cut` once when it has to end. Returns what stops the watch. A slow
 * reader is cut only while others are refused what it holds.
 */
export function watchStream(
  { rules, permit, mayContinue }: StreamWatch,
  given: { isOver?: () => boolean; isSlow: () => boolean; cut: (reason: CutReason) => void },
): () => void {
  let isStopped = false;
  let isChecking = false;
  const cut = (reason: CutReason): void => {
    if (isStopped) return;
    stop();
    if (!given.isOver?.()) given.cut(reason);
  };
  const checkAccess = async (): Promise<void> => {
    // A database that is slow is not asked twice at once.
    if (isChecking) return;
    isChecking = true;
    if (!(await mayContinue())) cut("access_ended");
    isChecking = false;
  };
  const timers = [
    setTimeout(() => cut("lasted_too_long"), rules.maxMs),
    setInterval(() => void checkAccess(), rules.accessCheckMs),
    setInterval(() => {
      if (given.isOver?.()) stop();
      else if (permit.isContended(rules.slowWindowMs) && given.isSlow()) cut("reader_too_slow");
    }, rules.slowWindowMs / CHECKS_PER_WINDOW),
  ];
  const stop = (): void => {
    isStopped = true;
    for (const timer of timers) clearTimeout(timer);
  };
  return stop;
}
