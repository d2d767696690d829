/** POST /models/cost: computes the cost of usage, at the prices of its time. */
import { type Static, Type } from "@sinclair/typebox";
import Big from "big.js";
import { ApiError } from "../../shared/errors.ts";
import { modelName } from "../../shared/models/model_name.ts";
import { data, Instant, listOf } from "../../shared/schemas.ts";
import { type FoundPrices, findPrices } from "../../sql/models/prices_as_of.ts";
import { operation, reply } from "../http/operation.ts";
import { yieldEventLoop } from "../http/yield_event_loop.ts";
import type { Catalog } from "./catalog.ts";
import { formatAmount, priceUsage } from "./cost_arithmetic.ts";
import { CostBody, ITEMS_PER_TURN, type ItemLookup, readItems, UsageError } from "./cost_items.ts";
import { ChargedPrices } from "./price_json.ts";
import { requireCost, requirePrices } from "./require_prices.ts";

const AMOUNT = { pattern: "^\\d+(\\.\\d+)?$", examples: ["0.0125"] };

const UsageCost = Type.Object(
  {
    cost: Type.String({ ...AMOUNT, description: "Exact, in `currency`" }),
    currency: Type.Literal("USD"),
    prices: ChargedPrices,
    pricesFrom: Instant({ description: "When these prices came into effect, as far as they are known" }),
    resolvedTo: Type.Optional(
      Type.String({
        description:
          "The model that was priced, as `provider/modelId`; only if `resolveDated` removed a date",
      }),
    ),
  },
  {
    title: "UsageCost",
    examples: [
      {
        cost: "0.0125",
        currency: "USD",
        prices: { input: 1.25, output: 10, cacheRead: 0.125 },
        pricesFrom: "2026-11-20T10:00:00.000Z",
      },
    ],
  },
);

const UsageCosts = data(
  {
    items: listOf(Type.Union([UsageCost, UsageError])),
    total: Type.String({ ...AMOUNT, description: "Exact" }),
  },
  "A result for each item, in the same order",
);
type UsageCosts = Static<typeof UsageCosts>["data"];

export const computeCost = operation(
  {
    id: "computeCost",
    method: "POST",
    path: "/api/v1/models/cost",
    access: "public",
    tag: "Model catalog",
    summary: "Compute what usage costs",
    description:
      "Prices up to 1,000 items of usage, each at the prices of its `asOf`. An alias stands for the model it meant at that " +
      "instant. Count each token in one field only: `inputTokens` does not include tokens read from a cache. If the context " +
      "is larger than a price tier's size, the tier's prices apply to the whole item. Amounts are decimal strings, because " +
      "they are exact and JSON parsers round long numbers. An item that cannot be priced has `error` with the same codes as " +
      "responses, and the others are priced. One that is invalid has `VALIDATION_ERROR`, with paths within the item in " +
      "`details.errors`. The `details.reason` of others is `model` or `alias`, with similar names in `details.suggestions`; " +
      "`unknown_at`; or `price`: the model had no price at that time, or none for the kind of token in `details.kind`. " +
      "`total` adds up the others.",
    uncheckedBody: CostBody,
    response: { 200: UsageCosts },
    reads: true,
  },
  async ({ body }, { catalog: cache }) => {
    const catalog = await cache.current();
    const items = await readItems(body, catalog);
    const lookups = items.flatMap((item) => ("error" in item ? [] : [item]));
    const found = lookups.length === 0 ? [] : await cache.read((sql) => findPrices(sql, lookups));
    const prices = new Map(lookups.map((lookup, position) => [lookup, found[position]]));
    return reply(200, { data: await priceAll(items, prices, catalog) });
  },
);

async function priceAll(
  value: readonly (ItemLookup | UsageError)[],
  prices: ReadonlyMap<ItemLookup, FoundPrices | undefined>,
  catalog: Catalog,
): Promise<UsageCosts> {
  let total = new Big(0);
  const items: UsageCosts["items"][number][] = [];
  for (const [position, item] of value.entries()) {
    if (position % ITEMS_PER_TURN === 0) await yieldEventLoop();
    const priced = "error" in item ? item : priceItem(item, prices.get(item), catalog);
    if (priced.error) items.push(priced);
    else {
      total = total.plus(priced.cost);
      items.push({ ...priced, cost: formatAmount(priced.cost) });
    }
  }
  return { items, total: formatAmount(total) };
}

function priceItem(lookup: ItemLookup, found: FoundPrices | undefined, catalog: Catalog) {
  try {
    const model = requirePrices(found, lookup, catalog);
    const { cost, prices } = priceUsage(requireCost(model), lookup.usage, modelName(model));
    const resolved = lookup.isUndated ? { resolvedTo: modelName(model) } : {};
    return { cost, currency: "USD" as const, prices, pricesFrom: model.pricesFrom, ...resolved };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, details } = error;
    return { error: { code, message, details: details ?? {} } };
  }
}
