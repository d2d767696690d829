/** Table `catalog_syncs`: every sync of the model catalog and its outcome. */
import type { CatalogSyncOutcome } from "../../shared/vocabulary.ts";
import { anyRow, firstRow, onlyRow, onlyValue, type Sql } from "../connection/pool.ts";

/** Numbers of models. */
export interface SyncCounts {
  inserted: number;
  /** Changed, or listed again after they were gone. */
  updated: number;
  /** No longer listed by the source. */
  gone: number;
  unchanged: number;
  /** They cannot be read; the stored rows stay as they are. */
  skipped: number;
  /** Their prices wait to be taken. */
  held: number;
}

export interface CatalogSync extends SyncCounts {
  /** `performance.now()` at its start. */
  startedMs: number;
  /** A URL without credentials and query, a path, or `bundled`. */
  source: string;
  /** The ETag of the source's response. */
  etag: string | null;
  /** The newest date in the source's data, which says how old it is; `null` without data or dates. */
  dataDate: string | null;
  outcome: CatalogSyncOutcome;
  /** Why rows were skipped, and fields are unknown. */
  notes: readonly string[];
  /** Set if the sync was refused or failed. */
  error: string | null;
  /** The doubts that it was refused for. */
  doubts?: readonly DocumentDoubt[];
}

/** Why a document as a whole waits. */
export interface DocumentDoubt {
  /** `gone`, `gone acme`, `unpriced` or `unpriced acme`. */
  code: string;
  /** How much it would take, such as `20 of 40`. */
  extent: string;
}

/** Whether any model is stored. */
export async function existsCatalog(sql: Sql): Promise<boolean> {
  return anyRow(sql`select from models limit 1`);
}

/** Identifies the stored catalog, so that a cached copy can be compared with it. */
export interface CatalogVersion {
  /**
   * Incremented by every statement that writes to a table of the catalog, of its corrections, of held prices or of syncs,
   * whether a sync's or an operator's.
   */
  number: number;
  /** The source of the last good sync, as `CatalogSync` has it; `null` before the first. */
  source: string | null;
  /** The newest date in that source's data; `null` when unknown. */
  dataDate: string | null;
  /** The end of the last good sync; `null` before the first. */
  syncedAt: string | null;
  /** Outcome of the last sync, good or not; `null` before the first. */
  lastOutcome: CatalogSyncOutcome | null;
  /** Models whose prices wait to be taken. */
  held: number;
}

/** Finds the version with three index look-ups and a small table: cheap enough to poll. */
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

/** Finds the last good sync; `null` before the first. */
export async function findLastGoodSync(sql: Sql): Promise<GoodSync | null> {
  return firstRow(sql<GoodSync[]>`
    select id, source, etag, data_date, skipped
    from catalog_syncs
    where outcome in ('changed', 'unchanged')
    order by id desc
    limit 1`);
}

/**
 * Records a sync that ends now, and returns its id. Price changes of the same transaction refer to it. Both times are of the
 * database's clock.
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

/** Sets the end of a sync to now. */
export async function finishCatalogSync(sql: Sql, id: number): Promise<void> {
  await sql`update catalog_syncs set finished_at = greatest(clock_timestamp(), started_at) where id = ${id}`;
}

/** A doubt that documents were refused for since the last good sync. */
export interface RefusedDoubt {
  doubt: string;
  /** How much it would take; `null` if a sync of an earlier release found it. */
  extent: string | null;
  source: string;
  /** The error of the last of these syncs. */
  error: string;
  firstSeenAt: string;
  lastSeenAt: string;
  timesSeen: number;
  /** The last decision of an operator; `null` without one. A doubt is rejected whatever its extent. */
  decision: "accepted" | "rejected" | null;
  /** Whether a sync that finds it now may take the document: it was first found an hour ago. */
  isDue: boolean;
}

/** Lists the doubts of refused documents since the last good sync, by source, doubt and extent. */
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
 * Records what an operator decides about the waiting documents, in place of earlier decisions. Accepting covers only what
 * the last one would take, because the operator may not have seen the others; rejecting covers all. Returns how many syncs
 * had refused them.
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
