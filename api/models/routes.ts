/** All routes under /models. */
import { Elysia } from "elysia";
import type { Metrics } from "../monitoring/metrics.ts";
import type { CatalogCache } from "./catalog_cache.ts";
import { registerCatalogMetrics } from "./catalog_metrics.ts";
import { costRoutes } from "./cost.ts";
import { heldRoutes } from "./held.ts";
import { listRoutes } from "./list.ts";
import { lookupRoutes } from "./lookup.ts";
import { priceHistoryRoutes } from "./price_history.ts";
import { recentPriceChangesRoutes } from "./recent_price_changes.ts";

export interface ModelDeps {
  catalog: CatalogCache;
  metrics: Metrics;
}

export function modelRoutes(deps: ModelDeps) {
  registerCatalogMetrics(deps.metrics.registry, deps.catalog);
  return new Elysia()
    .use(listRoutes(deps))
    .use(costRoutes(deps))
    .use(priceHistoryRoutes(deps))
    .use(recentPriceChangesRoutes(deps))
    .use(heldRoutes(deps))
    .use(lookupRoutes(deps));
}
