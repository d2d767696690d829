/**
 * Table `model_price_changes`: past prices of models and when they changed. The trigger `models_record_price_changes` writes it
 * (sql/migrations/20261121140400_model_price_changes__create.sql).
 */
import type { Sql } from "../connection/pool.ts";
import type { ModelKey } from "./models.ts";

/** Prices are USD per million tokens; `null` means no price. */
export interface PriceChange extends ModelKey {
  /** The price's name in the API, such as `input` or `tiers.200000.input`. */
  field: string;
  oldValue: number | null;
  newValue: number | null;
}

export interface PriceChangeRow extends Omit<PriceChange, "provider" | "modelId"> {
  changedAt: string;
}

export interface RecentPriceChanges {
  /** Names of prices; every price if empty. */
  fields: readonly string[];
  /** Changes at or after this instant; `null` for all. */
  since: string | null;
  /** Newest changes of each model. */
  limit: number;
}

export interface RecentPriceChangeRow extends PriceChangeRow {
  /** Index of the model in `keys`. */
  position: number;
}

/** Lists the newest price changes of several models: in the order of `keys`, and newest first for each. */
export async function listRecentPriceChanges(
  sql: Sql,
  keys: readonly ModelKey[],
  { fields, since, limit }: RecentPriceChanges,
): Promise<RecentPriceChangeRow[]> {
  const wanted = keys.map(({ provider, modelId }) => ({ provider, modelId }));
  return sql<RecentPriceChangeRow[]>`
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
}

/** Lists the price changes of a model, newest first. */
export async function listPriceChanges(sql: Sql, key: ModelKey): Promise<PriceChangeRow[]> {
  return sql<PriceChangeRow[]>`
    select field, old_value, new_value, changed_at
    from model_price_changes
    where provider = ${key.provider} and model_id = ${key.modelId}
    order by id desc`;
}
