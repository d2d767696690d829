/** Computes the course of a price from its current value and its past changes. All functions are pure. */
import type { listModelPriceChanges } from "../../models/price_history.ts";
import type { ResponseOf } from "../api_client.ts";

export type PriceChange = ResponseOf<typeof listModelPriceChanges>["data"]["changes"][number];

/** The price since `at` (milliseconds since the epoch), in US dollars per million tokens. Null means that there is no price. */
export interface PriceStep {
  at: number;
  price: number | null;
}

/** The start and the end of a period, in milliseconds since the epoch. */
export interface Period {
  from: number;
  until: number;
}

/** The maximum number of steps. A plot with more lines is unreadable. */
const MAX_STEPS = 300;

interface PriceCourse {
  field: string;
  current: number | null;
  period: Period;
  /** The time when prices became known, if available. The first step is never earlier. */
  knownSince?: number;
}

/**
 * Returns the steps of one price within the period, oldest first. The first step is at the start of the period or when prices
 * became known. `changes` are newest first and may include other prices. Above 300 steps, each of 100 parts of the period keeps
 * its lowest, highest and last price.
 */
export function priceSteps(
  changes: readonly PriceChange[],
  { field, current, period, knownSince = period.from }: PriceCourse,
): PriceStep[] {
  const own = changes.filter((change) => change.field === field).toReversed();
  const begin = Math.max(period.from, knownSince);
  const steps: PriceStep[] = [{ at: begin, price: own[0] ? own[0].oldValue : current }];
  for (const { newValue, changedAt } of own) {
    // The clock of the database may be ahead.
    const at = Math.min(Date.parse(changedAt), period.until);
    if (at <= begin) steps[0] = { at: begin, price: newValue };
    else steps.push({ at, price: newValue });
  }
  return steps.length <= MAX_STEPS ? steps : thin(steps, period);
}

function thin([first, ...steps]: readonly PriceStep[], { from, until }: Period): PriceStep[] {
  const width = (until - from) / (MAX_STEPS / 3);
  const parts = Map.groupBy(steps, ({ at }) => Math.floor((at - from) / width));
  const kept = [...parts.values()].flatMap((part) => {
    const byPrice = part.toSorted((a, b) => (a.price ?? -1) - (b.price ?? -1));
    return [...new Set([byPrice[0], byPrice.at(-1), part.at(-1)])].sort(
      (a, b) => (a?.at ?? 0) - (b?.at ?? 0),
    );
  });
  return [first, ...kept].filter((step) => step !== undefined);
}

/** Returns the lowest and the highest price; 0 for both if there is no price. */
export function priceRange(steps: readonly PriceStep[]): { min: number; max: number } {
  const prices = steps.flatMap(({ price }) => price ?? []);
  if (prices.length === 0) return { min: 0, max: 0 };
  return { min: Math.min(...prices), max: Math.max(...prices) };
}

const DAY_MS = 86_400_000;

/** Returns the period from the earliest of these instants until now, which is at least the last 90 days. */
export function periodSince(instants: readonly string[]): Period {
  const { from, until } = recentPeriod();
  return { from: Math.min(from, ...instants.map((instant) => Date.parse(instant))), until };
}

/** Returns the last 90 days in UTC. The period starts at midnight, so its start is the same all day. */
export function recentPeriod(now = Date.now()): Period {
  return { from: (Math.floor(now / DAY_MS) - 89) * DAY_MS, until: now };
}
