/** GET /models, GET /models.csv: the catalog, filtered and sorted, a page as JSON or all of it as CSV. */
import { Elysia } from "elysia";
import { LRUCache } from "lru-cache";
import { access } from "../http/access.ts";
import { parseQuery, queryOf } from "../http/query.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogCache } from "./catalog_cache.ts";
import { respondTagged } from "./conditional_response.ts";
import { createRespondCsv } from "./csv_response.ts";
import { LIST_QUERY, type ListParameters, type ModelSelection, SELECTION_QUERY } from "./list_parameters.ts";
import { LIST_CSV_DETAIL, LIST_DETAIL } from "./openapi.ts";
import { countFacets, selectModels } from "./select_models.ts";

/** Characters of pages and their keys that are cached: some 300 full pages. */
const MAX_CACHED = 8 * 2 ** 20;

export function listRoutes({ catalog: cache }: { catalog: CatalogCache }) {
  const pages = new LRUCache<string, string>({
    maxSize: MAX_CACHED,
    sizeCalculation: (page, key) => page.length + key.length,
  });
  const respondCsv = createRespondCsv();
  const respondAll = (request: Request, catalog: Catalog, selection: ModelSelection) =>
    respondCsv(request, catalog.etag, () => selectModels(catalog, selection).map(({ row }) => row));
  return new Elysia()
    .use(access)
    .get(
      "/models",
      async ({ request }) => {
        const { catalog } = await cache.current();
        const { etag } = catalog;
        const key = `${etag} ${new URL(request.url).search}`;
        const cached = pages.get(key);
        if (cached !== undefined) return respondTagged(request, etag, () => cached);
        const parameters = parseQuery(LIST_QUERY, queryOf(request));
        if (parameters.format === "csv") return respondAll(request, catalog, parameters);
        const page = makePage(catalog, parameters);
        pages.set(key, page);
        return respondTagged(request, etag, () => page);
      },
      { publicAccess: true, detail: LIST_DETAIL },
    )
    .get(
      "/models.csv",
      async ({ request }) => {
        const selection = parseQuery(SELECTION_QUERY, queryOf(request));
        const { catalog } = await cache.current();
        return respondAll(request, catalog, selection);
      },
      { publicAccess: true, detail: LIST_CSV_DETAIL },
    );
}

function makePage(catalog: Catalog, parameters: ListParameters): string {
  const selected = selectModels(catalog, parameters);
  const { limit, offset } = parameters;
  const page = selected.slice(offset, offset + limit);
  const models = page.map(({ itemJson }) => itemJson).join(",");
  const aliases = page.flatMap(({ aliasesJson }) => aliasesJson || []).join(",");
  const total = selected.length;
  const hasMore = offset + page.length < total;
  const facets = parameters.facets ? `,"facets":${JSON.stringify(countFacets(catalog, parameters))}` : "";
  return (
    `{"data":{"models":[${models}],"aliases":[${aliases}],"total":${total},"limit":${limit},"offset":${offset},` +
    `"hasMore":${hasMore},"catalog":${catalog.originJson}${facets}}}`
  );
}
