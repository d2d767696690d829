/**
 * Copies the rows of an export on two connections at once, its lanes: making the lines is what takes the time, and each
 * connection has a processor for it. Lanes take range after range and make their lines; what is sent is in the order of
 * the ranges.
 */

import type { Sql } from "../connection/pool.ts";
import type { ExportSnapshot } from "../connection/snapshot.ts";
import { Condition } from "./condition_variable.ts";
import { type CopyOptions, copyRows } from "./copy_rows.ts";
import type { KeyRange } from "./query.ts";
import type { KeyRanges } from "./ranges.ts";

/** How far a lane is ahead of what is sent, about a range: then it waits, and its server process with it. */
const READ_AHEAD_BYTES = 4 * 2 ** 20;

export interface LaneWork {
  ranges: KeyRanges;
  /** The SQL of a range's lines. */
  queryOf: (range: KeyRange) => string;
}

/**
 * Yields the lines of all ranges in their order, in chunks. A lane that is still being opened joins when it is, or never.
 * When the consumer returns early, or anything fails on one lane, both end, and both connections are left ready for the
 * next query.
 */
export async function* copyLanes(
  snapshots: readonly [ExportSnapshot, Promise<ExportSnapshot | null>],
  work: LaneWork,
  options: CopyOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const copy = new LanesCopy(work, options);
  const [first, second] = snapshots;
  copy.begin(first);
  void second.then((snapshot) => snapshot && copy.begin(snapshot));
  try {
    yield* copy.chunks();
  } finally {
    await copy.end();
  }
}

/** Lanes are what runs beside each other, so each has one process. */
async function forbidParallelCopies(sql: Sql): Promise<void> {
  await sql`select set_config('max_parallel_workers_per_gather', '0', true)`;
}

/** One of the connections, and how far it is ahead. */
class Lane {
  readonly snapshot: ExportSnapshot;
  readonly changed = new Condition();
  unsentBytes = 0;
  /** Resolves when nothing runs on it any more. */
  done: Promise<void> = Promise.resolve();

  constructor(snapshot: ExportSnapshot) {
    this.snapshot = snapshot;
  }
}

/** The lines of a range that are made and not sent. */
interface Part {
  lane: Lane;
  range: KeyRange;
  chunks: Uint8Array[];
  isWhole: boolean;
}

class LanesCopy {
  readonly #work: LaneWork;
  readonly #options: CopyOptions;
  readonly #lanes: Lane[] = [];
  /** In the order of their ranges. */
  readonly #parts: Part[] = [];
  readonly #changed = new Condition();
  #lastClaim: Promise<unknown> = Promise.resolve();
  #isAllClaimed = false;
  #isAllSent = false;
  #hasEnded = false;
  #failure: { error: unknown } | null = null;

  constructor(work: LaneWork, options: CopyOptions) {
    this.#work = work;
    this.#options = options;
  }

  begin(snapshot: ExportSnapshot): void {
    if (this.#hasEnded) return;
    const lane = new Lane(snapshot);
    this.#lanes.push(lane);
    lane.done = this.#run(lane).catch((error: unknown) => {
      this.#failure ??= { error };
      this.#changed.notify();
    });
  }

  /** Throws what has failed on any of the lanes. */
  async *chunks(): AsyncGenerator<Uint8Array, void, void> {
    while (!this.#isAllSent) {
      if (this.#failure) throw this.#failure.error;
      const [part] = this.#parts;
      const chunk = part?.chunks.shift();
      if (part && chunk) {
        part.lane.unsentBytes -= chunk.length;
        part.lane.changed.notify();
        yield chunk;
      } else if (part?.isWhole) {
        this.#parts.shift();
      } else if (!part && this.#isAllClaimed) {
        this.#isAllSent = true;
      } else {
        await this.#changed.wait();
      }
    }
  }

  /** Ends the lanes wherever they are. Never throws. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const ends = this.#lanes.map(async (lane) => {
      lane.changed.notify();
      // One that waits for its server does not look whether it is still wanted.
      if (!this.#isAllSent) await lane.snapshot.cancel();
      await lane.done;
    });
    await Promise.all(ends);
  }

  async #run(lane: Lane): Promise<void> {
    await lane.snapshot.run(forbidParallelCopies);
    while (!this.#hasEnded) {
      const part = await this.#claim(lane);
      if (!part) return;
      await this.#fill(part);
    }
  }

  /** Gives the lane the next range; one lane after the other, as a range begins where the one before ends. */
  #claim(lane: Lane): Promise<Part | null> {
    const claim = this.#lastClaim.then(async () => {
      const range = this.#hasEnded ? null : await lane.snapshot.run((tx) => this.#work.ranges.next(tx));
      if (!range) return null;
      const part: Part = { lane, range, chunks: [], isWhole: false };
      this.#parts.push(part);
      this.#isAllClaimed = range.upTo === null;
      return part;
    });
    this.#lastClaim = claim.catch(() => {});
    return claim;
  }

  async #fill(part: Part): Promise<void> {
    const { lane, range, chunks } = part;
    let bytes = 0;
    for await (const chunk of copyRows(lane.snapshot, this.#work.queryOf(range), this.#options)) {
      bytes += chunk.length;
      lane.unsentBytes += chunk.length;
      chunks.push(chunk);
      this.#changed.notify();
      while (lane.unsentBytes >= READ_AHEAD_BYTES && !this.#hasEnded) await lane.changed.wait();
      if (this.#hasEnded) return;
    }
    part.isWhole = true;
    this.#work.ranges.adapt(range, bytes);
    this.#changed.notify();
  }
}
