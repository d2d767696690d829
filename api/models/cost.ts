/** POST /models/cost: what usage costs, at the prices of the time. */

import Big from "big.js";
import { Elysia } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { type FoundPrices, findPrices, type PriceLookup } from "../../sql/models/model_prices.ts";
import { rejectUnstorable } from "../definitions/storable_text.ts";
import { access } from "../http/access.ts";
import { invalidInput, type Problem } from "../http/validation_problems.ts";
import { nextTurn } from "../http/yield_event_loop.ts";
import type { CatalogCache } from "./catalog_cache.ts";
import { computeCost, formatAmount, type Usage } from "./cost_arithmetic.ts";
import { COST_DETAIL, CostBody, type CostItem } from "./cost_openapi.ts";
import { readAsOf, requireCost, requirePrices } from "./prices_as_of.ts";

type ItemLookup = PriceLookup & { usage: Usage };

export function costRoutes({ catalog: cache }: { catalog: CatalogCache }) {
  return new Elysia({ prefix: "/models" }).use(access).post(
    "/cost",
    async ({ body }) => {
      const lookups = readLookups(body.items);
      const found = await cache.read((sql) => findPrices(sql, lookups));
      return { data: await priceAll(lookups, found) };
    },
    { publicAccess: true, body: CostBody, detail: COST_DETAIL },
  );
}

/** Throws VALIDATION_ERROR with every item that names no model, or an instant that cannot be read. */
function readLookups(items: readonly CostItem[]): ItemLookup[] {
  rejectUnstorable({ items });
  const problems: Problem[] = [];
  const lookups = items.map(({ alias, provider, modelId, asOf: given, ...usage }, index): ItemLookup => {
    const path = `items.${index}`;
    const { asOf, problem } = readAsOf(given ?? null);
    if (problem !== null) problems.push({ path: `${path}.asOf`, message: problem });
    if (alias !== undefined && provider === undefined && modelId === undefined) return { alias, asOf, usage };
    if (alias !== undefined || provider === undefined || modelId === undefined) {
      problems.push({ path, message: "must have either provider and modelId, or alias" });
    }
    return { provider: provider ?? "", modelId: modelId ?? "", asOf, usage };
  });
  if (problems.length > 0) throw invalidInput(problems);
  return lookups;
}

/** Items between two turns of the event loop: some milliseconds of work. */
const ITEMS_PER_TURN = 100;

async function priceAll(lookups: readonly ItemLookup[], found: readonly FoundPrices[]) {
  let total = new Big(0);
  const items: object[] = [];
  for (const [index, lookup] of lookups.entries()) {
    if (index % ITEMS_PER_TURN === 0) await nextTurn();
    const priced = priceItem(lookup, found[index]);
    if ("error" in priced) items.push(priced);
    else {
      total = total.plus(priced.cost);
      items.push({ ...priced, cost: formatAmount(priced.cost) });
    }
  }
  return { items, total: formatAmount(total) };
}

function priceItem(lookup: ItemLookup, found: FoundPrices | undefined) {
  try {
    const model = requirePrices(found, lookup);
    const { cost, prices } = computeCost(requireCost(model), lookup.usage);
    return { cost, currency: "USD", prices, pricesFrom: model.pricesFrom };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, details } = error;
    return { error: { code, message, details } };
  }
}
