/** POST /models/cost: what usage costs, at the prices of the time. */

import Big from "big.js";
import { Elysia } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { type FoundPrices, findPrices } from "../../sql/models/model_prices.ts";
import { access } from "../http/access.ts";
import { requestContext } from "../http/request_context.ts";
import { nextTurn } from "../http/yield_event_loop.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogCache } from "./catalog_cache.ts";
import {
  computeCost,
  formatAmount,
  GENERAL_PRICES,
  UnpricedKind,
  USAGE_FIELDS,
  type Usage,
} from "./cost_arithmetic.ts";
import { ITEMS_PER_TURN, type ItemError, type ItemLookup, readItems } from "./cost_items.ts";
import { COST_DETAIL } from "./cost_openapi.ts";
import { type KnownPrices, requireCost, requirePrices } from "./prices_as_of.ts";
import type { ListNames } from "./require_model.ts";
import { indexNames, modelName, type NameIndex } from "./similar_names.ts";

export function costRoutes({ catalog: cache }: { catalog: CatalogCache }) {
  return new Elysia({ prefix: "/models" }).use(access).post(
    "/cost",
    async ({ request }) => {
      const { catalog } = await cache.current();
      const items = await readItems(requestContext(request).body, catalog);
      const lookups = items.flatMap((item) => ("error" in item ? [] : [item]));
      const found = lookups.length === 0 ? [] : await cache.read((sql) => findPrices(sql, lookups));
      const prices = new Map(lookups.map((lookup, position) => [lookup, found[position]]));
      return { data: await priceAll(items, prices, catalog) };
    },
    { publicAccess: true, detail: COST_DETAIL },
  );
}

async function priceAll(
  given: readonly (ItemLookup | ItemError)[],
  prices: ReadonlyMap<ItemLookup, FoundPrices | undefined>,
  catalog: Catalog,
): Promise<{ items: object[]; total: string }> {
  let index: NameIndex | null = null;
  const names = () => (index ??= indexNames(catalog));
  let total = new Big(0);
  const items: object[] = [];
  for (const [position, item] of given.entries()) {
    if (position % ITEMS_PER_TURN === 0) await nextTurn();
    const priced = "error" in item ? item : priceItem(item, prices.get(item), { catalog, names });
    if ("error" in priced) items.push(priced);
    else {
      total = total.plus(priced.cost);
      items.push({ ...priced, cost: formatAmount(priced.cost) });
    }
  }
  return { items, total: formatAmount(total) };
}

function priceItem(
  lookup: ItemLookup,
  found: FoundPrices | undefined,
  context: { catalog: Catalog; names: ListNames },
) {
  try {
    const model = requirePrices(found, lookup, context);
    const { cost, prices } = computeUsageCost(model, lookup.usage);
    const resolved = lookup.isUndated ? { resolvedTo: modelName(model) } : {};
    return { cost, currency: "USD", prices, pricesFrom: model.pricesFrom, ...resolved };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, details } = error;
    return { error: { code, message, details } };
  }
}

/** Throws NOT_FOUND with the reason `price`, and in `details.kind` the kind of tokens that has none. */
function computeUsageCost(model: KnownPrices, usage: Usage): ReturnType<typeof computeCost> {
  try {
    return computeCost(requireCost(model), usage);
  } catch (error) {
    if (!(error instanceof UnpricedKind)) throw error;
    const { kind } = error;
    const general = GENERAL_PRICES[kind];
    const message = `Model "${modelName(model)}" has no price for ${USAGE_FIELDS[kind]}.`;
    const advice = general
      ? ` If the provider charges them as ${general}, add them to ${USAGE_FIELDS[general]}.`
      : "";
    throw new ApiError("NOT_FOUND", { message: message + advice, details: { reason: "price", kind } });
  }
}
