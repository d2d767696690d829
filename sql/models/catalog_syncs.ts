/** Table `catalog_syncs`: every sync of the model catalog and its outcome. */
import type { CatalogSyncOutcome } from "../../shared/vocabulary.ts";
import { anyRow, firstRow, onlyRow, onlyValue, type Sql } from "../connection/pool.ts";

/** Numbers of models, by the effect of a sync. */
export interface SyncCounts {
  inserted: number;
  /** Models that changed, or that the source lists again. */
  updated: number;
  /** Models that the source no longer lists. */
  gone: number;
  unchanged: number;
  /** Rows of the source that cannot be read. The stored rows are unchanged. */
  skipped: number;
  /** Models with new prices that are held. */
  held: number;
}

export interface CatalogSync extends SyncCounts {
  /** `performance.now()` at the start of the sync. */
  startedMs: number;
  /** Source of the catalog: a URL without credentials and query, a path, or `bundled`. */
  source: string;
  /** The ETag of the source's response. */
  etag: string | null;
  /** The newest date in the source's data, which shows the age of the data; `null` if there is no data or no date. */
  dataDate: string | null;
  outcome: CatalogSyncOutcome;
  /** One line per skipped row or unknown field, with the reason. */
  notes: readonly string[];
  /** Error message; null unless the sync was refused or failed. */
  error: string | null;
  /** The doubts for which the document was refused. */
  doubts?: readonly DocumentDoubt[];
}

/** A reason to hold back a whole document. */
export interface DocumentDoubt {
  /**
   * Kind of doubt, followed by the provider if it is about a single provider: `gone`, `gone acme`, `unpriced` or `unpriced acme`.
   */
  code: string;
  /** The number of models that the document would remove or take the price from, such as `20 of 40`. */
  extent: string;
}

/** Returns whether any model is stored. */
export async function existsCatalog(sql: Sql): Promise<boolean> {
  return anyRow(sql`select from models limit 1`);
}

/** Identifies the stored catalog, so that a cached copy can be compared with it. */
export interface CatalogVersion {
  /** Version number. Every write to models, providers, aliases, price corrections, held prices or syncs increments it. */
  number: number;
  /** The `source` of the last good sync; `null` before the first good sync. */
  source: string | null;
  /** The newest date in the data of the last good sync; `null` if unknown. */
  dataDate: string | null;
  /** The end time of the last good sync; `null` before the first good sync. */
  syncedAt: string | null;
  /** Outcome of the last sync, good or not; `null` before the first sync. */
  lastOutcome: CatalogSyncOutcome | null;
  /** Number of models with held prices that are not rejected. */
  held: number;
}

/** Finds the version of the stored catalog. Three index lookups and a read of a small table are cheap enough to poll. */
export async function findCatalogVersion(sql: Sql): Promise<CatalogVersion> {
  return onlyRow(sql<[CatalogVersion]>`
    select
      v.number,
      good.source,
      good.data_date,
      good.finished_at as synced_at,
      (select outcome from catalog_syncs order by id desc limit 1) as last_outcome,
      (select count(*)::int from held_prices where rejected_at is null) as held
    from catalog_version as v
    left join lateral (
      select source, data_date, finished_at
      from catalog_syncs
      where outcome in ('changed', 'unchanged')
      order by id desc
      limit 1
    ) as good on true`);
}

/** A sync that changed or confirmed the stored catalog. */
export type GoodSync = Pick<CatalogSync, "source" | "etag" | "dataDate" | "skipped"> & { id: number };

/** Finds the last good sync; `null` before the first good sync. */
export async function findLastGoodSync(sql: Sql): Promise<GoodSync | null> {
  return firstRow(sql<GoodSync[]>`
    select id, source, etag, data_date, skipped
    from catalog_syncs
    where outcome in ('changed', 'unchanged')
    order by id desc
    limit 1`);
}

/**
 * Records a sync that ends now, and returns its id. Price changes in the same transaction refer to the id. The start and end times
 * come from the database's clock.
 */
export async function insertCatalogSync(sql: Sql, sync: CatalogSync): Promise<number> {
  const doubts = sync.doubts ?? [];
  const seconds = (performance.now() - sync.startedMs) / 1000;
  return onlyValue(sql<[{ id: number }]>`
    with inserted as (
      insert into catalog_syncs (
        started_at, finished_at, source, etag, data_date, outcome, inserted, updated, gone, unchanged, skipped, held,
        notes, error, doubts, doubt_extents
      )
      values (
        clock_timestamp() - make_interval(secs => ${seconds}), clock_timestamp(), ${sync.source}, ${sync.etag},
        ${sync.dataDate}, ${sync.outcome}, ${sync.inserted}, ${sync.updated}, ${sync.gone}, ${sync.unchanged},
        ${sync.skipped}, ${sync.held}, ${[...sync.notes]}, ${sync.error}, ${doubts.map(({ code }) => code)},
        ${doubts.map(({ extent }) => extent)}
      )
      returning id
    )
    select id, set_config('ulr.catalog_sync', id::text, true) from inserted`);
}

/** Sets the end time of a sync to now. */
export async function finishCatalogSync(sql: Sql, id: number): Promise<void> {
  await sql`update catalog_syncs set finished_at = greatest(clock_timestamp(), started_at) where id = ${id}`;
}

/** A doubt that has held back documents since the last successful sync. */
export interface RefusedDoubt {
  doubt: string;
  /** The number of affected models, as in `DocumentDoubt`; `null` if an earlier release recorded the doubt. */
  extent: string | null;
  source: string;
  /** The error message of the last sync that raised this doubt. */
  error: string;
  firstSeenAt: string;
  lastSeenAt: string;
  timesSeen: number;
  /** The last decision of an operator; `null` before any decision. A rejection applies to a doubt of any extent. */
  decision: "accepted" | "rejected" | null;
  /** True one hour after the doubt was first found. A sync with a due doubt accepts the document unless the doubt is rejected. */
  isDue: boolean;
}

/** Lists the doubts about documents refused since the last good sync, grouped by source, doubt and extent. */
export async function listRefusedDoubts(sql: Sql): Promise<RefusedDoubt[]> {
  return sql<RefusedDoubt[]>`
    select
      doubt,
      extent,
      source,
      (array_agg(error order by id desc))[1] as error,
      min(finished_at) as first_seen_at,
      max(finished_at) as last_seen_at,
      count(*)::int as times_seen,
      case
        when bool_or(bool_or(decision = 'rejected')) over (partition by source, doubt) then 'rejected'
        else max(decision)
      end as decision,
      min(finished_at) <= now() - interval '1 hour' as is_due
    from catalog_syncs
    cross join unnest(doubts, doubt_extents) as found (doubt, extent)
    where outcome = 'refused'
      and id > coalesce((select max(id) from catalog_syncs where outcome in ('changed', 'unchanged')), 0)
    group by source, doubt, extent
    order by source, doubt, first_seen_at`;
}

/**
 * Records an operator's decision on the documents refused since the last good sync. The decision replaces earlier decisions. An
 * acceptance covers only the last document, because the operator may not have seen the earlier documents. A rejection covers all
 * documents. Returns the number of syncs that refused a document.
 */
export async function decideRefusedSyncs(sql: Sql, decision: "accepted" | "rejected"): Promise<number> {
  const rows = await sql`
    with waiting as (
      select id, max(id) over () as last_id
      from catalog_syncs
      where outcome = 'refused'
        and cardinality(doubts) > 0
        and id > coalesce((select max(id) from catalog_syncs where outcome in ('changed', 'unchanged')), 0)
    )
    update catalog_syncs as s
    set decision = case when ${decision} = 'rejected' or w.id = w.last_id then ${decision} end
    from waiting as w
    where s.id = w.id
    returning s.id`;
  return rows.length;
}
