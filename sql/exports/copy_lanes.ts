/**
 * Copies the rows of an export over two connections at once, its lanes. Formatting the lines takes most of the time, and
 * each connection has a server process of its own to do it. Each lane takes one range after the other; the lines are sent
 * in the order of the ranges.
 */

import type { Sql } from "../connection/pool.ts";
import type { ExportSnapshot } from "../connection/snapshot.ts";
import { Condition } from "./condition_variable.ts";
import { type CopyOptions, copyRows } from "./copy_rows.ts";
import type { KeyRange } from "./query.ts";
import type { KeyRanges } from "./ranges.ts";

/** How many bytes a lane may be ahead of the reader, about one range. Then it pauses, and its server process too. */
const READ_AHEAD_BYTES = 4 * 2 ** 20;

export interface LaneWork {
  ranges: KeyRanges;
  /** Returns the SQL that selects the lines of a range. */
  queryOf: (range: KeyRange) => string;
}

/**
 * Yields the lines of all ranges in order, in chunks. The second lane joins once its connection is open, if it ever is.
 * When the consumer returns early or a lane fails, both lanes end, and both connections are ready for the next query.
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

/** Turns off parallel workers: the lanes already run side by side, with one server process each. */
async function forbidParallelCopies(sql: Sql): Promise<void> {
  await sql`select set_config('max_parallel_workers_per_gather', '0', true)`;
}

/** One of the connections, and how far it is ahead of the reader. */
class Lane {
  readonly snapshot: ExportSnapshot;
  readonly changed = new Condition();
  unsentBytes = 0;
  /** Resolves when the connection is idle again. */
  done: Promise<void> = Promise.resolve();

  constructor(snapshot: ExportSnapshot) {
    this.snapshot = snapshot;
  }
}

/** The lines of a range that have been formatted but not sent. */
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
  /** In the order of the ranges. */
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

  /** Throws the first error of any lane. */
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

  /** Ends both lanes, at any point of their work. Never throws. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const ends = this.#lanes.map(async (lane) => {
      lane.changed.notify();
      // A lane that waits for its server does not notice that it has been stopped.
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

  /** Gives the lane the next range. Lanes take turns, because a range begins where the one before it ends. */
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
