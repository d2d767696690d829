/**
 * Copies the rows of an export over two connections at once, its lanes. Formatting the lines takes most of the time, and
 * each connection has a server process of its own to do it. Each lane takes one range after the other; the lines are sent
 * in the order of the ranges.
 */
import type { ExportDataset } from "../../shared/exports/datasets.ts";
import type { ExportSelection } from "../../shared/exports/selection.ts";
import type { Sql } from "../connection/pool.ts";
import type { ExportSnapshot } from "../connection/snapshot.ts";
import { ConditionVariable, type CopyOptions, copyRows } from "./copy_rows.ts";
import { boundaryQuery, type KeyRange, type RowKey } from "./query.ts";

/** Large enough that starting a COPY, about 2 ms, costs little in comparison. */
const RANGE_BYTES = 4 * 2 ** 20;
/** The first ranges are short: the length of a line is still unknown, and the reader waits for the first lines. */
const FIRST_ROWS = 500;
/** Keeps a range short in time when the filters let few rows pass. */
const ROWS_MAX = 50_000;
/** How many times as long as the last range the next one may be. */
const GROWTH_MAX = 4;

/** How many bytes a lane may be ahead of the reader, about one range. Then it pauses, and its server process too. */
const READ_AHEAD_BYTES = 4 * 2 ** 20;

/**
 * From here on a second connection saves a sixth to a quarter of the time (issues of 1 KB, two cores); with 10,000 rows
 * it may save nothing, and below 5,000 opening it takes longer than it saves.
 */
export const LANES_MIN_ROWS = 20_000;

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
  readonly progress = new ConditionVariable();
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
  isComplete: boolean;
}

class LanesCopy {
  readonly #work: LaneWork;
  readonly #options: CopyOptions;
  readonly #lanes: Lane[] = [];
  /** In the order of the ranges. */
  readonly #parts: Part[] = [];
  readonly #progress = new ConditionVariable();
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
      this.#progress.notify();
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
        part.lane.progress.notify();
        yield chunk;
      } else if (part?.isComplete) {
        this.#parts.shift();
      } else if (!part && this.#isAllClaimed) {
        this.#isAllSent = true;
      } else {
        await this.#progress.wait();
      }
    }
  }

  /** Ends both lanes, at any point of their work. Never throws. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const ends = this.#lanes.map(async (lane) => {
      lane.progress.notify();
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
      const part: Part = { lane, range, chunks: [], isComplete: false };
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
      this.#progress.notify();
      while (lane.unsentBytes >= READ_AHEAD_BYTES && !this.#hasEnded) await lane.progress.wait();
      if (this.#hasEnded) return;
    }
    part.isComplete = true;
    this.#work.ranges.adapt(range, bytes);
    this.#progress.notify();
  }
}

/**
 * Consecutive ranges that together contain all rows of a dataset, each of about the same size in bytes. The end of a range
 * is read from the index while copying, 0.5 ms for 4,000 rows. It cannot change the result, because each range has the
 * conditions of the whole.
 */
export class KeyRanges {
  readonly #dataset: ExportDataset;
  readonly #selection: ExportSelection;
  readonly #bytes: number;
  #after: RowKey | null = null;
  #isOver = false;
  #rows: number;

  constructor(
    dataset: ExportDataset,
    selection: ExportSelection,
    { bytes = RANGE_BYTES, firstRows = FIRST_ROWS } = {},
  ) {
    this.#dataset = dataset;
    this.#selection = selection;
    this.#bytes = bytes;
    this.#rows = firstRows;
  }

  /** Returns the next range; null after the last one, which has no end. Call inside the snapshot, one call at a time. */
  async next(sql: Sql): Promise<KeyRange | null> {
    if (this.#isOver) return null;
    const start = { after: this.#after, rows: this.#rows };
    const [upTo = null] = await sql.unsafe<RowKey[]>(boundaryQuery(this.#dataset, this.#selection, start));
    this.#after = upTo;
    this.#isOver = upTo === null;
    return { ...start, upTo };
  }

  /** Reports the size of a range in bytes. */
  adapt({ rows }: KeyRange, bytes: number): void {
    const wanted = Math.min((rows * this.#bytes) / bytes, rows * GROWTH_MAX, ROWS_MAX);
    this.#rows = Math.max(1, Math.floor(wanted));
  }
}
