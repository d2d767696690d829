/** How far open transactions hold back the cutoff of exports, measured at each scrape (docs/watermark.md). */
import type { Registry } from "prom-client";
import { registerMeasuredGauges } from "../../shared/monitoring/measured_gauge.ts";
import type { Log } from "../../shared/process/log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { measureWatermarkHold } from "../../sql/exports/settled_watermark.ts";
import type { WatermarkDeps } from "./require_watermark.ts";

/** Registers the gauge. */
export function registerWatermarkMetrics(
  registry: Registry,
  deps: { sql: Sql; log: Log; config: WatermarkDeps["config"] },
): void {
  registerMeasuredGauges(
    { registry, log: deps.log },
    [
      {
        name: "export_watermark_held_back_seconds",
        help:
          "Age of the oldest open transaction that holds back the cutoff of exports; 0 if there is none, " +
          "NaN while the database hides sessions",
      },
    ],
    async () => {
      const seconds = await measureWatermarkHold(deps.sql, {
        ignoredApplications: deps.config.exportIgnoreApplications,
        trackerSchema: deps.config.trackerSchema,
      });
      return [[{ labels: {}, value: seconds ?? Number.NaN }]];
    },
  );
}
