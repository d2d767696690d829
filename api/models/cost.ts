/** POST /models/cost: what usage costs, at the prices of the time. */

import Big from "big.js";
import { Elysia } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { type FoundPrices, findPrices, type PriceLookup } from "../../sql/models/model_prices.ts";
import { rejectUnstorable } from "../definitions/storable_text.ts";
import { access } from "../http/access.ts";
import { invalidInput, type Problem } from "../http/validation_problems.ts";
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
import { COST_DETAIL, CostBody, type CostItem } from "./cost_openapi.ts";
import { type KnownPrices, readAsOf, requireCost, requirePrices } from "./prices_as_of.ts";
import type { ListNames } from "./require_model.ts";
import { findUndated, indexNames, modelName, type NameIndex } from "./similar_names.ts";

/** `isUndated`: the item's id or alias had a date, and the lookup has not. */
type ItemLookup = PriceLookup & { usage: Usage; isUndated: boolean };

export function costRoutes({ catalog: cache }: { catalog: CatalogCache }) {
  return new Elysia({ prefix: "/models" }).use(access).post(
    "/cost",
    async ({ body }) => {
      const { catalog } = await cache.current();
      const lookups = readLookups(body.items, catalog);
      const found = await cache.read((sql) => findPrices(sql, lookups));
      return { data: await priceAll(lookups, found, catalog) };
    },
    { publicAccess: true, body: CostBody, detail: COST_DETAIL },
  );
}

/** Throws VALIDATION_ERROR with every item that names no model, or an instant that cannot be read. */
function readLookups(items: readonly CostItem[], catalog: Catalog): ItemLookup[] {
  rejectUnstorable({ items });
  const problems: Problem[] = [];
  const lookups = items.map((item, index): ItemLookup => {
    const { alias, provider, modelId, asOf: _, knownAt: __, resolveDated = false, ...usage } = item;
    const path = `items.${index}`;
    const { asOf, knownAt } = readInstants(item, path, problems);
    const isAlias = alias !== undefined && provider === undefined && modelId === undefined;
    if (!isAlias && (alias !== undefined || provider === undefined || modelId === undefined)) {
      problems.push({ path, message: "must have either provider and modelId, or alias" });
    }
    const name = isAlias ? { alias } : { provider: provider ?? "", modelId: modelId ?? "" };
    const undated = resolveDated ? findUndated(catalog, name) : null;
    return { ...(undated ?? name), asOf, knownAt, usage, isUndated: undated !== null };
  });
  if (problems.length > 0) throw invalidInput(problems);
  return lookups;
}

function readInstants(item: CostItem, path: string, problems: Problem[]) {
  const read = (name: "asOf" | "knownAt"): string | null => {
    const { asOf, problem } = readAsOf(item[name] ?? null);
    if (problem !== null) problems.push({ path: `${path}.${name}`, message: problem });
    return asOf;
  };
  return { asOf: read("asOf"), knownAt: read("knownAt") };
}

/** Items between two turns of the event loop: some milliseconds of work. */
const ITEMS_PER_TURN = 100;

async function priceAll(
  lookups: readonly ItemLookup[],
  found: readonly FoundPrices[],
  catalog: Catalog,
): Promise<{ items: object[]; total: string }> {
  let index: NameIndex | null = null;
  const names = () => (index ??= indexNames(catalog));
  let total = new Big(0);
  const items: object[] = [];
  for (const [position, lookup] of lookups.entries()) {
    if (position % ITEMS_PER_TURN === 0) await nextTurn();
    const priced = priceItem(lookup, found[position], { catalog, names });
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
