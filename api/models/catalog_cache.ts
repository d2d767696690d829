/** Caches the whole model catalog of a process. It polls for a newer version and replaces the catalog in one step. */

import { TEXTS } from "../../shared/error_texts.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { readCatalogSnapshot } from "../../sql/models/catalog_snapshot.ts";
import { findCatalogVersion } from "../../sql/models/catalog_syncs.ts";
import type { OpenProcess } from "../../sql/open_process.ts";
import { Slots } from "../http/limits/slots.ts";
import { buildCatalog, type Catalog } from "./catalog.ts";

/** Loading takes about 0.2 s, so a sync is visible within a second. */
const POLL_MS = 500;
const REPLICA_CATCH_UP_MS = 250;
const REPLICA_TIMEOUT_MS = 2000;

/** The version is read from `sql`. The catalog is read from the replica, or from `sql` if there is no replica. */
type CatalogCacheDeps = Pick<OpenProcess, "sql" | "replica" | "log">;

/** Cache of the model catalog, empty until the first request or `start()` loads it. */
export class CatalogCache {
  /** Slots of CSV downloads of the list. Each download may use a compressor of several megabytes. */
  readonly downloads = new Slots(
    { max: 16, perHolder: 4, perGroup: 16 },
    { holder: TEXTS.RATE_LIMITED.lists, all: TEXTS.SERVICE_UNAVAILABLE.lists },
  );
  readonly #deps: CatalogCacheDeps;
  #loaded: Catalog | null = null;
  /** The replica if it is known to have the loaded version. */
  #caughtUp: Pool | null = null;
  #refreshing: Promise<void> | null = null;
  #isFailing = false;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(deps: CatalogCacheDeps) {
    this.#deps = deps;
  }

  /** Returns the catalog. Waits only for the first load, and throws if that load fails. */
  async current(): Promise<Catalog> {
    if (!this.#loaded) await this.refresh();
    if (!this.#loaded) throw new Error("Cannot read the model catalog: it is not loaded");
    return this.#loaded;
  }

  /** Returns the catalog in memory; `null` before the first load. */
  peek(): Catalog | null {
    return this.#loaded;
  }

  /** Runs a query on an uncached catalog table. The result is never older than the cache. */
  async read<Result>(query: (sql: Pool) => Promise<Result>): Promise<Result> {
    const { sql, replica } = this.#deps;
    if (this.#caughtUp === null || !replica?.isUsed()) return query(sql);
    try {
      return await withTimeout(query(this.#caughtUp), REPLICA_TIMEOUT_MS);
    } catch (error) {
      replica.isToBlameFor(error);
      this.#caughtUp = null;
      return query(sql);
    }
  }

  /** Loads the catalog if the database has a newer version. Concurrent calls share one load. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#load().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#poll(), POLL_MS);
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #load(): Promise<void> {
    const { sql, replica, log } = this.#deps;
    const version = await findCatalogVersion(sql);
    const isStale = this.#loaded?.version.number !== version.number;
    if (isStale || this.#caughtUp === null) {
      this.#caughtUp = (await replica?.catchUp(REPLICA_CATCH_UP_MS)) ?? null;
    }
    if (!isStale) return;
    this.#loaded = buildCatalog(await this.read(readCatalogSnapshot));
    const { etag, entries } = this.#loaded;
    log.debug({ event: "catalog.loaded", etag, models: entries.length }, "loaded the catalog");
  }

  async #poll(): Promise<void> {
    try {
      await this.refresh();
      this.#isFailing = false;
    } catch (error) {
      // Logged once per outage. The last catalog stays in use.
      if (!this.#isFailing && this.#timer) {
        this.#deps.log.warn({ event: "catalog.away", err: error }, "cannot poll the catalog");
      }
      this.#isFailing = true;
    }
  }
}
