/** Parameters and errors of requests for the prices at an instant. */

import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { modelName } from "../../shared/models/model_name.ts";
import type { FoundPrices, PriceLookup } from "../../sql/models/prices_as_of.ts";
import { type AddProblem, instant, readInstant } from "../http/query.ts";
import { notFound } from "../http/require_visible.ts";
import type { Catalog } from "./catalog.ts";
import { presentCost } from "./price_json.ts";
import { requireAlias, requireModel } from "./require_model.ts";

export const AS_OF_QUERY = {
  asOf: instant(
    "Return the prices of this instant, an ISO 8601 time with an offset. An alias then stands for the model it meant at " +
      "that instant. Default: now",
    readPastInstant,
  ),
  knownAt: instant(
    "Return the prices as they were known at this instant, before later corrections. Default: now",
    readPastInstant,
  ),
};

/**
 * Parses an instant and truncates it to milliseconds; null if omitted or malformed. Adds a problem if the instant is in the future.
 */
export function readPastInstant(text: string | null, addProblem: AddProblem): string | null {
  const instant = readInstant(text, addProblem);
  const now = new Date().toISOString();
  if (instant !== null && instant > now) addProblem(`must not be in the future; it is ${now}`);
  return instant;
}

export type KnownPrices = NonNullable<FoundPrices["model"]>;

/**
 * Returns the model and its prices. Throws NOT_FOUND with the reason `unknown_at`, `alias` or `model`. For `alias` and `model`,
 * the error may suggest similar names.
 */
export function requirePrices(
  found: FoundPrices | undefined,
  lookup: PriceLookup,
  catalog: Catalog,
): KnownPrices {
  if (!found) throw new Error("Cannot read prices: they were not looked up");
  const { model, aliasKnownSince } = found;
  const { asOf, parameter } = earlierInstant(lookup);
  if ("alias" in lookup) {
    const { alias } = lookup;
    if (aliasKnownSince === null) {
      requireAlias(catalog, alias);
      throw notFound("alias", TEXTS.NOT_FOUND.alias(alias));
    }
    if (asOf !== null && asOf < aliasKnownSince) {
      const target = catalog.aliases.get(alias)?.row;
      const model = target ? modelName(target) : null;
      throw unknownAt(
        TEXTS.NOT_FOUND.unknownAlias({ alias, since: aliasKnownSince, parameter, model }),
        aliasKnownSince,
      );
    }
    if (model === null) throw notFound("alias", TEXTS.NOT_FOUND.aliasOfNone(alias));
  } else if (model === null) {
    requireModel(catalog, lookup);
    throw notFound("model", TEXTS.NOT_FOUND.model(modelName(lookup)));
  }
  if (asOf !== null && asOf < model.knownSince) {
    const since = model.knownSince;
    const message = TEXTS.NOT_FOUND.unknownPrices({ model: modelName(model), since, parameter });
    throw unknownAt(message, since);
  }
  return model;
}

/** Returns the earlier of `asOf` and `knownAt`: changes after `knownAt` were not yet known. `null` means now. */
function earlierInstant({ asOf, knownAt = null }: PriceLookup) {
  const isKnownAt = knownAt !== null && (asOf === null || knownAt < asOf);
  return isKnownAt ? { asOf: knownAt, parameter: "knownAt" } : { asOf, parameter: "asOf" };
}

/** Returns a model's prices in their API form. Throws NOT_FOUND with the reason `price`. */
export function requireCost({ prices, ...model }: KnownPrices) {
  const cost = presentCost(prices);
  if (cost === null)
    throw notFound("price", TEXTS.NOT_FOUND.price({ model: modelName(model), from: model.pricesFrom }));
  return cost;
}

function unknownAt(message: string, pricesKnownSince: string): ApiError {
  return new ApiError("NOT_FOUND", { message, details: { reason: "unknown_at", pricesKnownSince } });
}
