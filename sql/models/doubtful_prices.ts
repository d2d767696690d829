/** Tells a price that may be a mistake of the source from an ordinary change. Pure. */

/** A price that rises or falls by more than this factor is doubtful. */
const MAX_FACTOR = 5;

type Prices = Readonly<Record<string, number>>;

/** Whether any price changes by more than 5 times, or to or from 0. A price that appears or disappears is no such change. */
export function isDoubtfulChange(before: Prices, after: Prices): boolean {
  return Object.entries(before).some(([field, price]) => {
    const next = after[field];
    if (next === undefined || next === price) return false;
    return price === 0 || next === 0 || Math.max(price, next) > MAX_FACTOR * Math.min(price, next);
  });
}
