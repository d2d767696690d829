/** Prometheus metrics of the catalog as this process serves it. */
import { Gauge, type Registry } from "prom-client";
import { CATALOG_SYNC_OUTCOMES } from "../../shared/vocabulary.ts";
import type { CatalogCache } from "./catalog_cache.ts";

/** Registers the gauges; they read the cache when they are scraped. */
export function registerCatalogMetrics(registry: Registry, cache: CatalogCache): void {
  const registers = [registry];
  new Gauge({
    name: "catalog_models",
    help: "Live models in the catalog",
    registers,
    collect() {
      const entries = cache.peek()?.catalog.entries ?? [];
      this.set(entries.filter(({ row }) => row.removedAt === null).length);
    },
  });
  new Gauge({
    name: "catalog_stale_models",
    help: "Live models whose row of the source cannot be read, so that they stay as they were",
    registers,
    collect() {
      const entries = cache.peek()?.catalog.entries ?? [];
      this.set(entries.filter(({ row }) => row.removedAt === null && row.staleSince !== null).length);
    },
  });
  new Gauge({
    name: "catalog_held_prices",
    help: "Models whose doubtful prices wait for a second sync or an operator",
    registers,
    collect() {
      this.set(cache.peek()?.version.held ?? 0);
    },
  });
  new Gauge({
    name: "catalog_synced_timestamp_seconds",
    help: "End of the last successful catalog sync; 0 before the first",
    registers,
    collect() {
      this.set(Date.parse(cache.peek()?.version.syncedAt ?? "1970-01-01T00:00:00Z") / 1000);
    },
  });
  new Gauge({
    name: "catalog_last_sync",
    help: "1 for the outcome of the last catalog sync, 0 for the others",
    labelNames: ["outcome"],
    registers,
    collect() {
      const last = cache.peek()?.version.lastOutcome;
      for (const outcome of CATALOG_SYNC_OUTCOMES) this.set({ outcome }, Number(outcome === last));
    },
  });
}
