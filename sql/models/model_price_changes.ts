/**
 * Table `model_price_changes`: past prices of models and when they changed. The trigger `models_record_price_changes` writes it
 * (sql/migrations/20261121140400_model_price_changes__create.sql).
 */
import type { Sql } from "../connection/pool.ts";
import type { ModelKey, Prices } from "./models.ts";

/** Prices are USD per million tokens; `null` means no price. */
export interface PriceChange extends ModelKey {
  /** The price's name in the API, such as `input` or `tiers.200000.input`. */
  field: string;
  oldValue: number | null;
  newValue: number | null;
}

/** Lists what changes between all prices of a model before and after. */
export function comparePrices({ provider, modelId }: ModelKey, before: Prices, after: Prices): PriceChange[] {
  return Object.keys({ ...before, ...after })
    .filter((field) => before[field] !== after[field])
    .map((field) => {
      const [oldValue = null, newValue = null] = [before[field], after[field]];
      return { provider, modelId, field, oldValue, newValue };
    });
}

export interface PriceChangeRow extends Omit<PriceChange, "provider" | "modelId"> {
  changedAt: string;
}

export interface PriceChangeFilter {
  /** Names of prices; every price if empty. */
  fields: readonly string[];
  /** Changes at or after this instant; `null` for all. */
  since: string | null;
  /** Newest changes of each model; `null` for all. */
  limit: number | null;
}

/** Lists the price changes of each model, newest first, in the order of `keys`. */
export async function listPriceChanges(
  sql: Sql,
  keys: readonly ModelKey[],
  { fields, since, limit }: PriceChangeFilter = { fields: [], since: null, limit: null },
): Promise<PriceChangeRow[][]> {
  const wanted = keys.map(({ provider, modelId }) => ({ provider, modelId }));
  const rows = await sql<(PriceChangeRow & { position: number })[]>`
    select (model.position - 1)::int as position, change.field, change.old_value, change.new_value, change.changed_at
    from rows from (
      jsonb_to_recordset(${sql.json(wanted)}) as (provider text, "modelId" text)
    ) with ordinality as model (provider, model_id, position)
    cross join lateral (
      select id, field, old_value, new_value, changed_at
      from model_price_changes
      where provider = model.provider and model_id = model.model_id
        and changed_at >= coalesce(${since}::timestamptz, '-infinity')
        and (field = any(${[...fields]}) or cardinality(${[...fields]}::text[]) = 0)
      order by id desc
      limit ${limit}
    ) as change
    order by model.position, change.id desc`;
  const byModel = Map.groupBy(rows, ({ position }) => position);
  return keys.map((_, index) => (byModel.get(index) ?? []).map(({ position: _, ...change }) => change));
}
