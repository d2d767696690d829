/** All prices of a model, and what changes between two states of them. */
import type { PriceChange } from "./model_price_changes.ts";
import type { Model, ModelKey, Prices } from "./models.ts";

/** Returns all prices of a model, like the SQL function `model_prices`. */
export function modelPrices(model: Model): Prices {
  const columns = {
    input: model.inputUsdPerMtok,
    output: model.outputUsdPerMtok,
    cacheRead: model.cacheReadUsdPerMtok,
    cacheWrite: model.cacheWriteUsdPerMtok,
  };
  const known = Object.entries(columns).filter((entry): entry is [string, number] => entry[1] !== null);
  return { ...Object.fromEntries(known), ...model.pricing };
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
