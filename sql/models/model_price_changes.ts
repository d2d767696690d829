/**
 * Table `model_price_changes`: past prices of models and the times of their changes. The trigger `models_record_price_changes`
 * writes the table (sql/migrations/20261121140400_model_price_changes__create.sql).
 */
import type { Sql } from "../connection/pool.ts";
import type { ModelKey, Prices } from "./models.ts";

/** A change of one price. The values are in USD per million tokens; `null` means no price. */
export interface PriceChange extends ModelKey {
  /** The price's name in the API, such as `input` or `tiers.200000.input`. */
  field: string;
  oldValue: number | null;
  newValue: number | null;
}

/** Lists the prices that differ between a model's old and new prices. An absent price counts as null. */
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
  /** Names of the prices to list; empty lists every price. */
  fields: readonly string[];
  /** Lists changes at or after this time; `null` lists all changes. */
  since: string | null;
  /** Maximum number of changes per model, newest first; `null` lists all changes. */
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
