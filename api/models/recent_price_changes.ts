/** GET /models/history: the newest price changes of several models. */
import { Elysia } from "elysia";
import { listRecentPriceChanges } from "../../sql/models/model_price_changes.ts";
import { access } from "../http/access.ts";
import { parseQuery, queryOf } from "../http/query.ts";
import type { CatalogCache } from "./catalog_cache.ts";
import { respondText } from "./conditional_response.ts";
import { HISTORY_QUERY } from "./history_parameters.ts";
import { RECENT_HISTORY_DETAIL } from "./openapi.ts";

export function recentPriceChangesRoutes({ catalog: cache }: { catalog: CatalogCache }) {
  return new Elysia({ prefix: "/models" }).use(access).get(
    "/history",
    async ({ request }) => {
      const { model: keys, field: fields, since, limit } = parseQuery(HISTORY_QUERY, queryOf(request));
      const { catalog } = await cache.current();
      const known = keys.filter((key) => catalog.find(key) !== undefined);
      const rows = await cache.read((sql) => listRecentPriceChanges(sql, known, { fields, since, limit }));
      const byModel = Map.groupBy(rows, ({ position }) => position);
      const models = known.map((key, index) => ({
        ...key,
        changes: (byModel.get(index) ?? []).map(({ position: _, ...change }) => change),
      }));
      const body = JSON.stringify({ data: { models, total: models.length } });
      return respondText(request, body);
    },
    { publicAccess: true, detail: RECENT_HISTORY_DETAIL },
  );
}
