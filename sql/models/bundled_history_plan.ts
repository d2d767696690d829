/** Pure functions that plan how the bundled price history is joined to the recorded prices. */

import { readPrices, type SourceCost } from "../../shared/models/prices.ts";
import { createTiering, type Tiering } from "../../shared/models/tiers.ts";
import { isDoubtfulChange } from "./held_prices.ts";
import { comparePrices, type PriceChange } from "./model_price_changes.ts";
import { type ModelKey, modelKeyText, type Prices } from "./models.ts";

/** A doubtful price counts as a mistake if the source reverts it within this time. */
const MISTAKE_MS = 24 * 3_600_000;

/** A line of `price-history.ndjson.gz`. From `at` on, the source lists the model with this cost, or not at all (`gone`). */
export interface PastEvent {
  at: string;
  provider: string;
  model: string;
  event: "first_seen" | "price" | "status" | "gone" | "returned";
  cost: SourceCost | null;
}

/** The first prices that the service recorded for a model. */
export interface FirstPrices extends ModelKey {
  createdAt: string;
  prices: Prices;
}

/** A model that exists only in the bundled history. */
export interface PastModel extends ModelKey, Tiering {
  pricesKnownSince: string;
  goneAt: string;
  /** The last known prices. */
  prices: Prices;
}

export interface BundledHistory {
  gone: PastModel[];
  /** Start of the known price history of each stored model. */
  knownSince: (ModelKey & { pricesKnownSince: string })[];
  /** Price changes, oldest first. */
  changes: (PriceChange & { changedAt: string })[];
}

/** The prices of a model from time `at` on. */
interface PricesSince {
  at: string;
  prices: Prices;
}

/**
 * Plans the history of every model until the service recorded the model, or until `now` if it never did. The last planned change of
 * a recorded model leads to its first recorded prices.
 */
export function planBundledHistory(
  events: readonly PastEvent[],
  stored: readonly FirstPrices[],
  now: string,
): BundledHistory {
  const recorded = new Map(stored.map((model) => [modelKeyText(model), model]));
  const past: BundledHistory = { gone: [], knownSince: [], changes: [] };
  const models = Map.groupBy(events, ({ provider, model }) => modelKeyText({ provider, modelId: model }));
  const toTiering = tieringOf([...models.values()]);
  for (const [name, own] of models) {
    const first = recorded.get(name);
    const steps = listSteps(own).filter(({ at }) => at < (first?.createdAt ?? now));
    const [oldest, last] = [steps[0], steps.at(-1)];
    if (!oldest || !last) continue;
    const { provider, model: modelId } = own[0] as PastEvent;
    const known = { provider, modelId, pricesKnownSince: oldest.at };
    if (first) past.knownSince.push(known);
    else past.gone.push({ ...known, goneAt: goneAt(own, now), prices: last.prices, ...toTiering(own) });
    const all = first ? [...steps, { at: first.createdAt, prices: first.prices }] : steps;
    past.changes.push(...listChanges({ provider, modelId }, all));
  }
  past.changes.sort((a, b) => (a.changedAt < b.changedAt ? -1 : Number(a.changedAt > b.changedAt)));
  return past;
}

/** Lists the prices of a model, oldest first. Omits mistakes that the source soon reverted. */
export function listSteps(events: readonly PastEvent[]): PricesSince[] {
  const all = events
    .filter(({ event }) => event !== "gone" && event !== "status")
    .map(({ at, cost }) => ({ at: toInstant(at), prices: readPrices(cost) }));
  const steps: PricesSince[] = [];
  for (const [index, step] of all.entries()) {
    const [before, next] = [steps.at(-1), all[index + 1]];
    const isMistake =
      before !== undefined &&
      next !== undefined &&
      Date.parse(next.at) - Date.parse(step.at) < MISTAKE_MS &&
      isDoubtfulChange(before.prices, step.prices) &&
      !isDoubtfulChange(before.prices, next.prices);
    if (!isMistake) steps.push(step);
  }
  return steps;
}

/**
 * Returns the removal time of a model that the stored catalog lacks. This is `now` if the bundled history still lists the model.
 */
function goneAt(events: readonly PastEvent[], now: string): string {
  const last = events.at(-1);
  return last?.event === "gone" ? toInstant(last.at) : now;
}

function listChanges(key: ModelKey, steps: readonly PricesSince[]): BundledHistory["changes"] {
  return steps
    .slice(1)
    .flatMap(({ at, prices }, index) =>
      comparePrices(key, steps[index]?.prices ?? {}, prices).map((change) => ({ ...change, changedAt: at })),
    );
}

/** Returns a function that assigns a tier to a model. Only the id and the last cost of a removed model are known. */
function tieringOf(models: readonly (readonly PastEvent[])[]) {
  const untiered = (own: readonly PastEvent[]) => {
    const { provider, model, cost } = own.findLast(({ event }) => event !== "gone") as PastEvent;
    const { input, output } = readPrices(cost);
    return {
      ...{ provider, id: model, modalities: { output: ["text"] } },
      cost: input === undefined ? undefined : { input, output },
    };
  };
  const tierOf = createTiering(models.map(untiered));
  return (own: readonly PastEvent[]) => tierOf(untiered(own));
}

function toInstant(at: string): string {
  return new Date(at).toISOString();
}
