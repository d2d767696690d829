/** All prices of a model, what changes between two states of them, and which changes may be mistakes. */
import type { PriceChange } from "./model_price_changes.ts";
import type { Model, ModelKey, Prices } from "./models.ts";

/** A price that rises or falls by more than this factor is doubtful. */
const MAX_FACTOR = 5;

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

/**
 * Whether any price changes by more than 5 times, or to or from 0: the source may have made a mistake. A price that appears
 * or disappears is no such change.
 */
export function isDoubtfulChange(before: Prices, after: Prices): boolean {
  return Object.entries(before).some(([field, price]) => {
    const next = after[field];
    if (next === undefined || next === price) return false;
    return price === 0 || next === 0 || Math.max(price, next) > MAX_FACTOR * Math.min(price, next);
  });
}
