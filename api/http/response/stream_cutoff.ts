/** Cuts off a running stream: too long, too slow, or the caller has lost access. */

import type { Permit } from "../limits/semaphore.ts";
import type { CutReason } from "../request_context.ts";
import type { PaceRule } from "./stream_pace.ts";

export interface StreamRules extends PaceRule {
  /** Maximum duration in milliseconds. */
  maxMs: number;
  /** Milliseconds between two checks of the caller's rights. */
  accessCheckMs: number;
}

/**
 * 16 KiB/s over 60 s; rights every 25 s, so that a stream ends within 30 s. A reader of 20 KiB/s can appear to stop for
 * 69 s (measured), until its socket buffers have room; so a stalled reader is cut off after 96 s, which is 1.5 MiB at the
 * minimum rate.
 */
export const STREAM_RULES: Omit<StreamRules, "maxMs"> = {
  slowWindowMs: 60_000,
  minBytesPerSecond: 16 * 1024,
  socketBytes: 1.5 * 2 ** 20,
  accessCheckMs: 25_000,
};

export interface StreamWatch {
  rules: StreamRules;
  /** The slot of the stream, which others may be waiting for. */
  permit: Permit;
  /** Returns whether the caller still has access. Never throws. */
  mayContinue: () => Promise<boolean>;
}

/** Checks for a slow reader per window. */
const CHECKS_PER_WINDOW = 12;

/**
 * Watches a stream and calls `cut` once if it has to end. Returns a function that stops the watch. A slow reader is cut
 * off only while others lack its slot.
 */
export function watchStream(
  { rules, permit, mayContinue }: StreamWatch,
  options: { isSlow: () => boolean; cut: (reason: CutReason) => void },
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
      if (permit.isContended(rules.slowWindowMs) && options.isSlow()) cut("reader_too_slow");
    }, rules.slowWindowMs / CHECKS_PER_WINDOW),
  ];
  const stop = (): void => {
    isStopped = true;
    for (const timer of timers) clearTimeout(timer);
  };
  return stop;
}
