/** Second connections for large exports: a few for all streams. An export never waits for one. */
import type { Log } from "../../shared/process/log.ts";
import type { Pool, Sql } from "./pool.ts";
import { type ExportSnapshot, openExportSnapshot, shareSnapshot } from "./snapshot.ts";

/** Per process, in addition to EXPORT_STREAMS_MAX: enough to keep the processors of a small server busy. */
export const EXPORT_LANES_MAX = 2;

/** A second snapshot that shows the same rows as the first. */
export interface Twin {
  /** Resolves to null if it cannot be opened. The first snapshot may be read meanwhile. */
  opened: Promise<ExportSnapshot | null>;
  /** Releases the connection as soon as it is open. Never throws. Close it before the first snapshot. */
  close(): Promise<void>;
}

export interface ExportLanesOptions {
  /** First snapshots are opened here too; the pool has `max` connections more than they need. */
  pool: Pool;
  control: Sql;
  max: number;
  log: Log;
  /** Called with each second connection that is open. */
  onOpened?: (twin: ExportSnapshot) => void;
}

export class ExportLanes {
  readonly #options: ExportLanesOptions;
  #used = 0;

  constructor(options: ExportLanesOptions) {
    this.#options = options;
  }

  /** Begins to open a twin; null if no connection is free. Throws if the first snapshot is lost. */
  async openTwin(first: ExportSnapshot): Promise<Twin | null> {
    if (this.#used >= this.#options.max) return null;
    this.#used += 1;
    const release = (): void => {
      this.#used -= 1;
    };
    const shared = await shareSnapshot(first).catch((error: unknown) => {
      release();
      throw error;
    });
    const { pool, control, log, onOpened } = this.#options;
    const { signal } = first;
    let isOpening = true;
    let isWanted = true;
    const opened = openExportSnapshot(pool, { control, signal, shared })
      .then((twin) => {
        onOpened?.(twin);
        return twin;
      })
      .catch((error: unknown) => {
        if (isWanted && !signal.aborted)
          log.warn({ event: "export.one_lane", err: error }, "cannot open a second connection for an export");
        return null;
      })
      .finally(() => {
        isOpening = false;
      });
    const close = async (): Promise<void> => {
      isWanted = false;
      const closed = opened.then((twin) => twin?.close()).then(release);
      // A twin that is still opening is not needed: a server that does not respond must delay no export.
      if (!isOpening) await closed;
    };
    return { opened, close };
  }
}
