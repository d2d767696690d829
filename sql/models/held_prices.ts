/**
 * Table `held_prices`: new prices from the source that may be mistakes. They wait until a later sync or an operator confirms them.
 * catalog-sync/plan.ts decides which prices to hold and which to apply.
 */
import type { Tiering } from "../../shared/models/tiers.ts";
import { type Sql, tableRows } from "../connection/pool.ts";
import { comparePrices, type PriceChange } from "./model_price_changes.ts";
import { isOneOf, type ModelKey, type Prices } from "./models.ts";

/** A price that rises or falls by more than this factor is doubtful. */
const MAX_FACTOR = 5;

/**
 * Returns whether any price changes by more than a factor of 5, or to or from 0. The source may then have made a mistake. A price
 * that appears or disappears is not doubtful.
 */
export function isDoubtfulChange(before: Prices, after: Prices): boolean {
  return Object.entries(before).some(([field, price]) => {
    const next = after[field];
    if (next === undefined || next === price) return false;
    return price === 0 || next === 0 || Math.max(price, next) > MAX_FACTOR * Math.min(price, next);
  });
}

/** All prices of a model in the source, and the model's tier at these prices. */
export interface HeldPrices extends ModelKey, Tiering {
  prices: Prices;
}

export interface HeldPricesRow extends HeldPrices {
  currentPrices: Prices;
  firstSeenAt: string;
  lastSeenAt: string;
  /** Number of syncs that found these prices. */
  timesSeen: number;
  /** Time when an operator rejected the prices; `null` if no operator did. */
  rejectedAt: string | null;
  /**
   * Whether the next sync may apply these prices if the source still has them. True from one hour after the prices were first seen,
   * unless an operator has rejected them.
   */
  isDue: boolean;
}

export async function listHeldPrices(sql: Sql): Promise<HeldPricesRow[]> {
  return sql<HeldPricesRow[]>`
    select
      held.provider, held.model_id, held.prices, held.tier, held.tier_source, model_prices(model) as current_prices,
      held.first_seen_at, held.last_seen_at, held.times_seen, held.rejected_at,
      held.rejected_at is null and held.first_seen_at <= now() - interval '1 hour' as is_due
    from held_prices as held
    join models as model using (provider, model_id)
    order by held.provider collate "C", held.model_id collate "C"`;
}

/**
 * Records that a sync has found these prices. If the prices of a model differ from its held prices, the times, the counter and the
 * rejection are reset.
 */
export async function upsertHeldPrices(sql: Sql, held: readonly HeldPrices[]): Promise<void> {
  if (held.length === 0) return;
  await sql`
    insert into held_prices as before (provider, model_id, prices, tier, tier_source)
    select provider, model_id, prices, tier, tier_source
    from ${tableRows(sql, "held_prices", held)} as r
    on conflict (provider, model_id) do update
    set prices = excluded.prices, tier = excluded.tier, tier_source = excluded.tier_source, last_seen_at = now(),
      first_seen_at = case when before.prices = excluded.prices then before.first_seen_at else now() end,
      times_seen = case when before.prices = excluded.prices then before.times_seen + 1 else 1 end,
      rejected_at = case when before.prices = excluded.prices then before.rejected_at end`;
}

/** Deletes held prices that the source no longer lists, or that a sync has applied. */
export async function deleteHeldPrices(sql: Sql, keys: readonly ModelKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`delete from held_prices where ${isOneOf(sql, keys)}`;
}

/** Applies held prices to their models, deletes the held rows, and returns the price changes. Call inside a transaction. */
export async function takeHeldPrices(sql: Sql, keys: readonly ModelKey[]): Promise<PriceChange[]> {
  if (keys.length === 0) return [];
  const rows = await sql<(ModelKey & { before: Prices; after: Prices })[]>`
    with taken as (
      delete from held_prices where ${isOneOf(sql, keys)} returning *
    ), changed as (
      update models
      set
        input_usd_per_mtok = (taken.prices ->> 'input')::numeric,
        output_usd_per_mtok = (taken.prices ->> 'output')::numeric,
        cache_read_usd_per_mtok = (taken.prices ->> 'cacheRead')::numeric,
        cache_write_usd_per_mtok = (taken.prices ->> 'cacheWrite')::numeric,
        pricing = nullif(taken.prices - '{input,output,cacheRead,cacheWrite}'::text[], '{}'),
        tier = taken.tier,
        tier_source = taken.tier_source,
        updated_at = now()
      from taken
      where models.provider = taken.provider and models.model_id = taken.model_id
    )
    -- Reads the models as they were before the statement.
    select taken.provider, taken.model_id, model_prices(model) as before, taken.prices as after
    from taken
    join models as model using (provider, model_id)
    order by taken.provider collate "C", taken.model_id collate "C"`;
  return rows.flatMap(({ before, after, ...key }) => comparePrices(key, before, after));
}

/** Rejects held prices. They stay held while the source lists them. */
export async function rejectHeldPrices(sql: Sql, keys: readonly ModelKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`update held_prices set rejected_at = now() where ${isOneOf(sql, keys)}`;
}
