/** GET /models, GET /models.csv: lists filtered and sorted models, as a JSON page or a complete CSV file. */
import { type Static, Type } from "@sinclair/typebox";
import { Count, data, listOf, PAGE } from "../../../shared/schemas.ts";
import { jsonText, operation, reply } from "../../http/operation.ts";
import type { Catalog } from "../catalog.ts";
import { Alias, CATALOG_READ, CatalogOrigin, ModelSummary } from "../schemas.ts";
import { replyCsv } from "./list_csv.ts";
import { type ListParameters, MODEL_LIST_QUERY, SELECTION_QUERY } from "./list_parameters.ts";
import { countFacets, ModelFacets, selectModels } from "./select_models.ts";

const ModelPage = data(
  {
    models: listOf(ModelSummary),
    aliases: listOf(Alias),
    total: Count,
    ...PAGE,
    hasMore: Type.Boolean(),
    catalog: CatalogOrigin,
    facets: Type.Optional(ModelFacets),
  },
  "A page of models and their aliases",
);
export type ModelPage = Static<typeof ModelPage>["data"];

export const listModels = operation(
  {
    ...CATALOG_READ,
    id: "listModels",
    path: "/api/v1/models",
    summary: "List models",
    description:
      "Sorted by provider and id, unless `sortBy` is set. Models that the source no longer lists are excluded, unless " +
      "`includeGone` is true. Filters on a price or context exclude models for which it is unknown. An unknown provider " +
      "returns an empty page. `catalog` says where the data comes from and how old it is. `format=csv` " +
      "responds as `/models.csv`.",
    query: MODEL_LIST_QUERY,
    response: { 200: { json: ModelPage, orFile: true } },
  },
  async ({ query, request }, { catalog: cache }) => {
    if (query.format === "csv") return replyCsv(request, cache, query);
    const catalog = await cache.current();
    const { search } = new URL(request.url);
    const page = catalog.pages.get(search) ?? JSON.stringify({ data: makePage(catalog, query) });
    catalog.pages.set(search, page);
    return reply(200, jsonText(page), { etag: catalog.etag });
  },
);

export const listModelsCsv = operation(
  {
    ...CATALOG_READ,
    id: "listModelsCsv",
    path: "/api/v1/models.csv",
    summary: "List models as CSV",
    description: "The whole filtered list as one file, by the same rules as CSV exports.",
    query: SELECTION_QUERY,
    response: {
      200: {
        description: "The file",
        files: { "text/csv": "\uFEFFprovider,modelId,name\r\nopenai,gpt-5,GPT-5\r\n" },
      },
    },
  },
  ({ query, request }, { catalog }) => replyCsv(request, catalog, query),
);

function makePage(catalog: Catalog, parameters: ListParameters): ModelPage {
  const selected = selectModels(catalog, parameters);
  const { limit, offset } = parameters;
  const page = selected.slice(offset, offset + limit);
  return {
    models: page.map(({ listItem }) => listItem),
    aliases: page.flatMap(({ aliases }) => aliases),
    total: selected.length,
    limit,
    offset,
    hasMore: offset + page.length < selected.length,
    catalog: catalog.origin,
    ...(parameters.facets ? { facets: countFacets(catalog, parameters) } : {}),
  };
}
