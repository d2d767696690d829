/** The gauge of deliveries that wait, measured at each scrape. */
import type { Registry } from "prom-client";
import { registerMeasuredGauges } from "../../shared/monitoring/measured_gauge.ts";
import type { Log } from "../../shared/process/log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { measureOldestDelivery } from "../../sql/webhooks/webhook_deliveries.ts";

/** Registers `webhook_oldest_due_seconds`. */
export function registerWebhookMetrics(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  registerMeasuredGauges(
    { registry, log },
    [
      {
        name: "webhook_oldest_due_seconds",
        help: "How long the webhook that is due longest has waited for a job runner; 0 if none waits",
      },
    ],
    async () => [[{ labels: {}, value: await measureOldestDelivery(sql) }]],
  );
}
