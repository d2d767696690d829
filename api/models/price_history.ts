/** GET /models/history/{provider}/{modelId}: the history of a model's prices. */
import { Elysia } from "elysia";
import { listPriceChanges } from "../../sql/models/model_price_changes.ts";
import { listPriceCorrections } from "../../sql/models/model_price_corrections.ts";
import { access } from "../http/access.ts";
import type { CatalogCache } from "./catalog_cache.ts";
import { respondText } from "./conditional_response.ts";
import { HISTORY_DETAIL } from "./openapi.ts";
import { modelKey, requireModel } from "./require_model.ts";

export function priceHistoryRoutes({ catalog: cache }: { catalog: CatalogCache }) {
  return new Elysia({ prefix: "/models" }).use(access).get(
    "/history/:provider/*",
    async ({ request, params }) => {
      const { row } = requireModel((await cache.current()).catalog, modelKey(params));
      const [changes, corrections] = await cache.read((sql) =>
        Promise.all([listPriceChanges(sql, row), listPriceCorrections(sql, row)]),
      );
      const body = JSON.stringify({ data: { changes, total: changes.length, corrections } });
      return respondText(request, body);
    },
    { publicAccess: true, detail: HISTORY_DETAIL },
  );
}
