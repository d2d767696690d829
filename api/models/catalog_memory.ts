/**
 * The catalogue that this process answers from. It follows the database, which tells by NOTIFY what was written, and
 * looks for itself as well, since a notification can be missed while a connection is made anew.
 */
import type { Log } from "../../shared/log.ts";
import { within } from "../../shared/within.ts";
import { readCatalogSnapshot } from "../../sql/catalog_snapshot.ts";
import { CATALOG_CHANNEL, type CatalogVersion, findCatalogVersion } from "../../sql/catalog_syncs.ts";
import type { Pool, Sql } from "../../sql/pool.ts";
import type { Replica } from "../../sql/replica.ts";
import { buildCatalog, type Catalog } from "./catalog.ts";

/** With the time of loading, well below the second in which every process has to know a new catalogue. */
const LOOK_EVERY_MS = 500;
/** Who asks when nobody has asked for this long waits for a look: so what was written before a request is in its answer. */
const FRESH_MS = 50;
/** … unless the database takes longer than this; then the last catalogue goes on being served. */
const WAIT_MS = 1000;
/** Of that second, too. */
const REPLICA_CATCH_UP_MS = 250;
/** The whole catalogue is read in a tenth of it. */
const REPLICA_ANSWER_MS = 2000;

export interface CurrentCatalog {
  catalog: Catalog;
  /** What the database said of it: when it was synced last, and how that went. */
  version: CatalogVersion;
}

export interface CatalogMemory {
  /** What to answer from. Throws only when there never was a catalogue and the database is away. */
  current(): Promise<CurrentCatalog>;
  /** What is in memory; `null` before anything was read. */
  peek(): CurrentCatalog | null;
  /** Runs a query on what belongs to the catalogue and is not in memory, which is never older than what is. */
  read<Result>(query: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Makes sure that what `current` gives is what the database holds by now. */
  refresh(): Promise<void>;
  /** Begins to follow the database by itself. */
  follow(): void;
  /** Stops following. */
  close(): void;
}

export interface CatalogMemoryDeps {
  /** Says whether there is something new. */
  sql: Pool;
  /** Listens: on a connection that reaches PostgreSQL itself. */
  directSql: Pool;
  /** Where it is read then; `null` when there is none. */
  replica: Replica | null;
  log: Log;
}

/** Opens the memory; nothing is read before it is needed. */
export function openCatalogMemory({ sql, directSql, replica, log }: CatalogMemoryDeps): CatalogMemory {
  /** The replica, once it is known to show what is in memory. */
  let reads: Pool | null = null;
  let known: CurrentCatalog | null = null;
  let refreshing: Promise<void> | null = null;
  /** Whether something was written that the version may not tell of. */
  let isOutdated = false;
  /** The look that a notification has begun, as long as it goes on. */
  let told: Promise<void> | null = null;
  let lookedAt = 0;
  let lastRead = { endedAt: 0, ms: 0 };
  let isAway = false;
  let isClosed = false;
  let timer: ReturnType<typeof setInterval> | null = null;

  async function readAnywhere<Result>(query: (pool: Pool) => Promise<Result>): Promise<Result> {
    if (reads !== null && replica?.isUsed()) {
      try {
        return await within(query(reads), REPLICA_ANSWER_MS);
      } catch (error) {
        // Whatever it was, the primary has the last word.
        replica.isToBlameFor(error);
        reads = null;
      }
    }
    return query(sql);
  }

  async function readAnew(): Promise<void> {
    const isSuspect = isOutdated;
    isOutdated = false;
    lookedAt = performance.now();
    try {
      await readIfChanged(isSuspect);
    } catch (error) {
      isOutdated ||= isSuspect;
      throw error;
    }
  }

  async function readIfChanged(isSuspect: boolean): Promise<void> {
    const version = await findCatalogVersion(sql);
    if (known && !isSuspect && isSameContent(known.version, version)) {
      // In one step: a request sees all of the old state or all of the new one.
      known = { catalog: known.catalog, version };
      reads ??= (await replica?.catchUp(REPLICA_CATCH_UP_MS)) ?? null;
      return;
    }
    // Many small changes, one after the other, take half of this process's time at most.
    await Bun.sleep(Math.max(0, lastRead.endedAt + lastRead.ms - performance.now()));
    const begunAt = performance.now();
    reads = (await replica?.catchUp(REPLICA_CATCH_UP_MS)) ?? null;
    const snapshot = await readAnywhere(readCatalogSnapshot);
    known = { catalog: buildCatalog(snapshot), version: snapshot.version };
    const { etag, entries } = known.catalog;
    const endedAt = performance.now();
    lastRead = { endedAt, ms: endedAt - begunAt };
    log.debug({ event: "catalog.loaded", etag, models: entries.length }, "loaded the catalogue");
  }

  function refreshOnce(): Promise<void> {
    refreshing ??= readAnew().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  async function refresh(): Promise<void> {
    // A look that began before may have missed what the caller knows of.
    if (refreshing) await refreshing.catch(() => {});
    await refreshOnce();
  }

  async function look(isTold: boolean): Promise<void> {
    try {
      await (isTold ? refresh() : refreshOnce());
      isAway = false;
    } catch (error) {
      // Said once: the last catalogue goes on being served.
      if (!isAway && !isClosed)
        log.warn({ event: "catalog.away", err: error }, "cannot look for a new catalogue");
      isAway = true;
    }
  }

  async function catchUp(): Promise<void> {
    const sinceLookMs = performance.now() - lookedAt;
    // A database that says nothing is waited for by those who asked first.
    if (isAway || (refreshing && sinceLookMs > WAIT_MS)) return;
    if (!told && sinceLookMs >= FRESH_MS) await inTime(look(false));
    if (told) await inTime(told);
  }

  function lookWhenTold(): void {
    isOutdated = true;
    const looking = look(true).finally(() => {
      if (told === looking) told = null;
    });
    told = looking;
  }

  return {
    async current() {
      if (!known) await refreshOnce();
      else await catchUp();
      if (!known) throw new Error("Cannot answer from the catalogue: it was not loaded");
      return known;
    },
    peek: () => known,
    read: readAnywhere,
    refresh,
    follow() {
      timer = setInterval(() => void look(false), LOOK_EVERY_MS);
      // The driver listens again when it has lost its connection; whatever was told meanwhile is read then.
      directSql.listen(CATALOG_CHANNEL, lookWhenTold, lookWhenTold).catch((error: unknown) => {
        // The pool that ends before it was heard is no news.
        if (!isClosed) log.warn({ err: error }, "cannot listen for new catalogues");
      });
    },
    close() {
      isClosed = true;
      if (timer) clearInterval(timer);
    },
  };
}

/** Waits for a look, which never throws, but not for ever. */
async function inTime(look: Promise<void>): Promise<void> {
  await within(look, WAIT_MS).catch(() => {});
}

function isSameContent(a: CatalogVersion, b: CatalogVersion): boolean {
  return a.changedId === b.changedId && a.manualAliases === b.manualAliases;
}
