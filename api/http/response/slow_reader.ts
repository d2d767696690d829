/**
 * When a reader of a stream is too slow: measures how fast it reads, and cuts it off only while others lack its slot. Only time in
 * which the stream waited for the reader counts.
 */
import type { Permit } from "../limits/semaphore.ts";

export interface PaceRule {
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

/**
 * 16 KiB/s over 60 s. A reader of 20 KiB/s can appear to stop for 69 s (measured), until its socket buffers have room; so a
 * stalled reader is cut off after 96 s, which is 1.5 MiB at the minimum rate.
 */
export const PACE_RULE: PaceRule = {
  slowWindowMs: 60_000,
  minBytesPerSecond: 16 * 1024,
  socketBytes: 1.5 * 2 ** 20,
};

/** All times are milliseconds of one clock, such as `performance.now()`. */
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
