/** Watches a running stream, and ends it if it lasts too long, its reader is too slow, or the caller has lost access. */
import type { Permit } from "../limits/semaphore.ts";
import type { CutReason } from "../request_context.ts";

interface PaceRule {
  /** How long a reader may fall behind the minimum rate, in milliseconds. */
  slowWindowMs: number;
  /** The minimum rate. */
  minBytesPerSecond: number;
  /**
   * Bytes that a reader may always fall behind. Sockets buffer megabytes and ask for more only when much of that is
   * read, so a steady reader appears to stop for a minute and then takes a lot at once.
   */
  socketBytes: number;
}

export interface StreamRules extends PaceRule {
  /** Maximum duration in milliseconds. */
  maxMs: number;
  /** Milliseconds between two checks of the caller's rights. */
  accessCheckMs: number;
}

/**
 * Rights are checked every 25 s, so that a stream ends within 30 s. A reader must take 16 KiB/s over 60 s. One of 20 KiB/s can
 * appear to stop for 69 s (measured), until its socket buffers have room; so a stalled reader is cut off after 96 s, which is
 * 1.5 MiB at the minimum rate.
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

/**
 * Measures how fast a reader reads. Only time in which the stream waited for the reader counts, and the reader is cut off only
 * while others lack its slot. All times are milliseconds of one clock, such as `performance.now()`.
 */
export class ReaderPace {
  readonly #rule: PaceRule;
  readonly #allowedBytes: number;
  /** How far the reader was behind the minimum rate when it last took something. */
  #behindBytes = 0;
  #offer: { bytes: number; at: number } | null = null;

  constructor(rule: PaceRule) {
    this.#rule = rule;
    this.#allowedBytes = Math.max((rule.minBytesPerSecond * rule.slowWindowMs) / 1000, rule.socketBytes);
  }

  /** Call when bytes are ready for the reader. */
  offered(bytes: number, now: number): void {
    this.#offer = { bytes, at: now };
  }

  /** Call when the reader has taken the offered bytes. */
  taken(now: number): void {
    if (!this.#offer) return;
    // Bytes taken early only fill sockets, so they earn no credit.
    this.#behindBytes = Math.max(0, this.#behindAt(now) - this.#offer.bytes);
    this.#offer = null;
  }

  /** Returns whether to cut the reader off: it is slow, and others have waited for its slot for a window. */
  mustYield(permit: Permit, now: number): boolean {
    return permit.isContended(this.#rule.slowWindowMs) && this.isSlow(now);
  }

  /** Returns whether the reader has fallen too far behind. */
  isSlow(now: number): boolean {
    return this.#behindAt(now) >= this.#allowedBytes;
  }

  #behindAt(now: number): number {
    const waitedMs = this.#offer ? now - this.#offer.at : 0;
    return this.#behindBytes + (this.#rule.minBytesPerSecond * waitedMs) / 1000;
  }
}
