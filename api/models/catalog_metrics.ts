/** Prometheus metrics of the catalog as this process serves it. */
import type { Registry } from "prom-client";
import { registerGauge } from "../../shared/monitoring/measured_gauge.ts";
import { CATALOG_SYNC_OUTCOMES } from "../../shared/vocabulary.ts";
import type { CatalogCache } from "./catalog_cache.ts";

/** Registers the gauges; they read the cache when they are scraped. */
export function registerCatalogMetrics(registry: Registry, cache: CatalogCache): void {
  const liveModels = () =>
    (cache.peek()?.catalog.entries ?? []).map(({ row }) => row).filter(({ removedAt }) => removedAt === null);
  registerGauge(registry, {
    name: "catalog_models",
    help: "Live models in the catalog",
    read: () => liveModels().length,
  });
  registerGauge(registry, {
    name: "catalog_stale_models",
    help: "Live models whose row of the source cannot be read, so that they stay as they were",
    read: () => liveModels().filter(({ staleSince }) => staleSince !== null).length,
  });
  registerGauge(registry, {
    name: "catalog_held_prices",
    help: "Models whose doubtful prices wait for a second sync or an operator",
    read: () => cache.peek()?.version.held ?? 0,
  });
  registerGauge(registry, {
    name: "catalog_synced_timestamp_seconds",
    help: "End of the last successful catalog sync; 0 before the first",
    read: () => Date.parse(cache.peek()?.version.syncedAt ?? "1970-01-01T00:00:00Z") / 1000,
  });
  registerGauge(registry, {
    name: "catalog_last_sync",
    help: "1 for the outcome of the last catalog sync, 0 for the others",
    labelNames: ["outcome"],
    read: () => {
      const last = cache.peek()?.version.lastOutcome;
      return CATALOG_SYNC_OUTCOMES.map((outcome) => ({
        labels: { outcome },
        value: Number(outcome === last),
      }));
    },
  });
}
