/** Table `model_price_changes`: past prices of models and when they changed. A trigger on `models` writes it. */
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

/** Lists the price changes of a model, newest first. */
export async function listPriceChanges(sql: Sql, key: ModelKey): Promise<PriceChangeRow[]> {
  return sql<PriceChangeRow[]>`
    select field, old_value, new_value, changed_at
    from model_price_changes
    where provider = ${key.provider} and model_id = ${key.modelId}
    order by id desc`;
}
