/** The API's model responses, and functions that read them for the pages. */
import type { listHeldPrices } from "../../models/held_prices.ts";
import type { ModelPage as ListedModels } from "../../models/list/list.ts";
import { listModelProviders } from "../../models/models.ts";
import type { listModelPriceChanges } from "../../models/price_history.ts";
import type { Cost } from "../../models/price_json.ts";
import type { Model, ModelSummary } from "../../models/schemas.ts";
import type { ResponseOf } from "../api_client.ts";
import type { Page } from "../page.ts";
import { type Period, type PriceChange, type PriceStep, priceSteps } from "./price_steps.ts";

export type FullModel = Model;
export type ModelItem = ModelSummary;

/** A page of the model list. Pages always request the facets. */
export type ModelPage = ListedModels & Required<Pick<ListedModels, "facets">>;

/** Names of providers by id. A provider that the source no longer lists has no name. */
export type ProviderNames = ReadonlyMap<string, string>;

/** Returns the names of active providers. */
export async function loadProviderNames(page: Page): Promise<ProviderNames> {
  const { data } = await page.call(listModelProviders);
  return new Map(data.providers.map(({ id, name }) => [id, name]));
}

/** Source data that the catalog has not accepted yet. */
export type Held = ResponseOf<typeof listHeldPrices>["data"];

export const MAX_COMPARED = 4;

export interface Compared {
  model: FullModel;
  changes: readonly PriceChange[];
  corrections: ResponseOf<typeof listModelPriceChanges>["data"]["corrections"];
}

/** Returns the prices of a model by API name, such as `input` and `tiers.200000.input`. */
export function pricesOf(cost: Cost | null): ReadonlyMap<string, number> {
  const { tiers = [], ...base } = cost ?? {};
  const named = (prices: object, prefix: string) =>
    Object.entries(prices).map(([field, price]): [string, number] => [prefix + field, Number(price)]);
  return new Map([
    ...named(base, ""),
    ...tiers.flatMap(({ contextOver, ...prices }) => named(prices, `tiers.${contextOver}.`)),
  ]);
}

/** Returns the steps of one price since the model's prices became known. `field` is the price's name in the API. */
export function stepsOf(
  { cost, pricesKnownSince }: Pick<FullModel, "cost" | "pricesKnownSince">,
  { changes, field, period }: { changes: readonly PriceChange[]; field: string; period: Period },
): PriceStep[] {
  const current = pricesOf(cost).get(field) ?? null;
  return priceSteps(changes, { field, current, period, knownSince: Date.parse(pricesKnownSince) });
}
