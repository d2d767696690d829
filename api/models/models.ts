/** Gets a model by provider and id or by alias, and lists providers and aliases. */
import { Type } from "@sinclair/typebox";
import { modelName, parseModelName } from "../../shared/models/model_name.ts";
import { Count, data, listOf } from "../../shared/schemas.ts";
import { modelKeyText } from "../../sql/models/models.ts";
import { findPrices, type PriceLookup } from "../../sql/models/prices_as_of.ts";
import { jsonText, operation, reply } from "../http/operation.ts";
import { mapped, text } from "../http/query.ts";
import type { Catalog, CatalogEntry } from "./catalog.ts";
import type { CatalogCache } from "./catalog_cache.ts";
import { presentModel } from "./model_json.ts";
import { presentCost } from "./price_json.ts";
import { MODEL_NOT_FOUND, ModelPath, requireAlias, requireModel } from "./require_model.ts";
import { AS_OF_QUERY, requirePrices } from "./require_prices.ts";
import { Alias, CATALOG_READ, Model, Provider } from "./schemas.ts";

export const listModelProviders = operation(
  {
    ...CATALOG_READ,
    id: "listModelProviders",
    path: "/api/v1/models/providers",
    summary: "List providers",
    description: "Active providers, sorted by id.",
    response: { 200: data({ providers: listOf(Provider), total: Count }, "All active providers") },
  },
  async (_, { catalog }) => {
    const { etag, providers } = await catalog.current();
    return reply(200, { data: { providers, total: providers.length } }, { etag });
  },
);

export const listModelAliases = operation(
  {
    ...CATALOG_READ,
    id: "listModelAliases",
    path: "/api/v1/models/aliases",
    summary: "List aliases",
    description:
      "Short names such as `sonnet` and the model each one currently stands for, sorted by alias. An unknown model returns " +
      "an empty list.",
    query: {
      model: mapped(text(500, "Aliases that stand for this model, as provider/modelId"), (value) =>
        value === null ? null : parseModelName(value),
      ),
    },
    response: { 200: data({ aliases: listOf(Alias), total: Count }, "All aliases, or those of a model") },
  },
  async ({ query: { model } }, { catalog: cache }) => {
    const catalog = await cache.current();
    const all = [...catalog.aliases.values()].map(({ alias }) => alias);
    const aliases = model === null ? all : all.filter((alias) => modelKeyText(alias) === modelKeyText(model));
    return reply(200, { data: { aliases, total: aliases.length } }, { etag: catalog.etag });
  },
);

const AS_OF_NOTE =
  "With `asOf`, `cost` has the prices of that instant, as they are known today or were known at `knownAt`, and `pricesFrom` says when they came into effect; all other fields " +
  "are current. Before `pricesKnownSince` that is 404 with `details.reason` `unknown_at` and the instant in " +
  "`details.pricesKnownSince`.";

export const resolveModelAlias = operation(
  {
    ...CATALOG_READ,
    id: "resolveModelAlias",
    path: "/api/v1/models/resolve/{+alias}",
    summary: "Resolve an alias",
    description:
      "Returns the model an alias stands for. If the source no longer lists the model, it is deprecated and has `goneAt`. " +
      `A 404 names up to three similar aliases in \`details.suggestions\`. ${AS_OF_NOTE}`,
    params: {
      alias: Type.String({ description: "May contain slashes, plain or as %2F", examples: ["gpt"] }),
    },
    query: AS_OF_QUERY,
    response: {
      200: data(
        {
          alias: Type.String({ examples: ["gpt"] }),
          target: Type.String({ description: "provider/modelId", examples: ["openai/gpt-5"] }),
          model: Model,
        },
        "The model",
      ),
    },
    fails: [["NOT_FOUND", { reason: "alias", suggestions: ["gpt-5", "gpt-4"] }]],
  },
  async ({ params: { alias }, query }, { catalog: cache }) => {
    const catalog = await cache.current();
    const { row, modelJson } = isPast(query)
      ? await readPastModel(cache, { alias, ...query })
      : requireAlias(catalog, alias);
    const model = withSyncTime(modelJson, catalog);
    const names = `"alias":${JSON.stringify(alias)},"target":${JSON.stringify(modelName(row))}`;
    return reply(200, jsonText(`{"data":{${names},"model":${model}}}`));
  },
);

export const getModel = operation(
  {
    ...CATALOG_READ,
    id: "getModel",
    path: "/api/v1/models/{provider}/{+modelId}",
    summary: "Get a model",
    description:
      "A model that the source no longer lists is deprecated and has `goneAt`. A 404 names up to three similar models in " +
      `\`details.suggestions\`, as \`provider/modelId\`. ${AS_OF_NOTE}`,
    params: ModelPath,
    query: AS_OF_QUERY,
    response: { 200: { json: Model, description: "The model, not wrapped in `data`" } },
    fails: [MODEL_NOT_FOUND],
  },
  async ({ params, query }, { catalog: cache }) => {
    const catalog = await cache.current();
    const { modelJson: currentJson } = requireModel(catalog, params);
    const past = isPast(query) ? await readPastModel(cache, { ...params, ...query }) : null;
    return reply(200, jsonText(withSyncTime(past?.modelJson ?? currentJson, catalog)));
  },
);

function isPast({ asOf, knownAt }: { asOf: string | null; knownAt: string | null }): boolean {
  return asOf !== null || knownAt !== null;
}

/** Returns a model's JSON with the prices of an instant. All other fields are current. Throws NOT_FOUND. */
async function readPastModel(
  cache: CatalogCache,
  lookup: PriceLookup,
): Promise<Pick<CatalogEntry, "row" | "modelJson">> {
  const [found] = await cache.read((sql) => findPrices(sql, [lookup]));
  const catalog = await cache.current();
  const { prices, pricesFrom, ...key } = requirePrices(found, lookup, catalog);
  const { row } = requireModel(catalog, key);
  const model = { ...presentModel(row), cost: presentCost(prices), pricesFrom };
  return { row, modelJson: JSON.stringify(model) };
}

/** Adds `syncedAt`, which is the same for all models. */
function withSyncTime(modelJson: string, { version }: Catalog): string {
  return `${modelJson.slice(0, -1)},"syncedAt":${JSON.stringify(version.syncedAt)}}`;
}
