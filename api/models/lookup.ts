/** One model: by provider and id, or by an alias; the lists of providers and aliases. */
import { Elysia } from "elysia";
import { findPrices, type PriceLookup } from "../../sql/models/model_prices.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import { access } from "../http/access.ts";
import { parseQuery, queryOf } from "../http/query.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogCache, CurrentCatalog } from "./catalog_cache.ts";
import { respondTagged, respondText } from "./conditional_response.ts";
import { ALIASES_QUERY } from "./history_parameters.ts";
import { presentAlias, presentModel } from "./model_json.ts";
import { ALIASES_DETAIL, MODEL_DETAIL, PROVIDERS_DETAIL, RESOLVE_DETAIL } from "./openapi.ts";
import { presentCost } from "./price_json.ts";
import { AS_OF_QUERY, requirePrices } from "./prices_as_of.ts";
import { modelKey, requireAlias, requireModel } from "./require_model.ts";

/** Ids and aliases may contain slashes: they are the rest of the path. */
export function lookupRoutes({ catalog: cache }: { catalog: CatalogCache }) {
  return new Elysia({ prefix: "/models" })
    .use(access)
    .get(
      "/providers",
      async ({ request }) => {
        const { etag, providersBody } = (await cache.current()).catalog;
        return respondTagged(request, etag, () => providersBody);
      },
      { publicAccess: true, detail: PROVIDERS_DETAIL },
    )
    .get(
      "/aliases",
      async ({ request }) => {
        const { model } = parseQuery(ALIASES_QUERY, queryOf(request));
        const { catalog } = await cache.current();
        return respondTagged(request, catalog.etag, () =>
          model === null ? catalog.aliasesBody : makeAliasList(catalog, model),
        );
      },
      { publicAccess: true, detail: ALIASES_DETAIL },
    )
    .get(
      "/resolve/*",
      async ({ request, params }) => {
        const past = parseQuery(AS_OF_QUERY, queryOf(request));
        const alias = decodeURIComponent(params["*"]);
        const current = await cache.current();
        const wrap = (target: string, model: string) =>
          `{"data":{"alias":${JSON.stringify(alias)},"target":${JSON.stringify(target)},"model":${model}}}`;
        if (isPast(past)) {
          const { target, modelJson } = await readPastModel(cache, { alias, ...past });
          return respondText(request, wrap(target, withSyncTime(modelJson, current)));
        }
        const { target, entry } = requireAlias(current.catalog, alias);
        return respondText(request, wrap(target, withSyncTime(entry.modelJson, current)));
      },
      { publicAccess: true, detail: RESOLVE_DETAIL },
    )
    .get(
      "/:provider/*",
      async ({ request, params }) => {
        const past = parseQuery(AS_OF_QUERY, queryOf(request));
        const key = modelKey(params);
        const current = await cache.current();
        const { modelJson: currentJson } = requireModel(current.catalog, key);
        const { modelJson } = isPast(past)
          ? await readPastModel(cache, { ...key, ...past })
          : { modelJson: currentJson };
        return respondText(request, withSyncTime(modelJson, current));
      },
      { publicAccess: true, detail: MODEL_DETAIL },
    );
}

function isPast({ asOf, knownAt }: { asOf: string | null; knownAt: string | null }): boolean {
  return asOf !== null || knownAt !== null;
}

function makeAliasList(catalog: Catalog, { provider, modelId }: ModelKey): string {
  const aliases = [...catalog.aliases.values()]
    .filter(({ row }) => row.provider === provider && row.modelId === modelId)
    .map(({ row, entry }) => presentAlias(row, entry?.row));
  return JSON.stringify({ data: { aliases, total: aliases.length } });
}

/** Returns a model's JSON with the prices of an instant; everything else is current. Throws NOT_FOUND. */
async function readPastModel(
  cache: CatalogCache,
  lookup: PriceLookup,
): Promise<{ target: string; modelJson: string }> {
  const [found] = await cache.read((sql) => findPrices(sql, [lookup]));
  const { catalog } = await cache.current();
  const { prices, pricesFrom, ...key } = requirePrices(found, lookup, { catalog });
  const { row } = requireModel(catalog, key);
  const model = { ...presentModel(row), cost: presentCost(prices), pricesFrom };
  return { target: `${key.provider}/${key.modelId}`, modelJson: JSON.stringify(model) };
}

/** Adds the time of the last sync, which is the same for all models. */
function withSyncTime(modelJson: string, { version }: CurrentCatalog): string {
  return `${modelJson.slice(0, -1)},"syncedAt":${JSON.stringify(version.syncedAt)}}`;
}
