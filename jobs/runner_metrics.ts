/** Metrics of a job runner. */
import { Counter, type Registry } from "prom-client";
import { JOB_NAMES } from "../shared/background_jobs.ts";
import { registerMeasuredGauges } from "../shared/monitoring/measured_gauge.ts";
import type { Log } from "../shared/process/log.ts";
import { pause } from "../shared/process/with_timeout.ts";
import { EXPORT_JOB_ERROR_CODES } from "../shared/vocabulary.ts";
import type { Sql } from "../sql/connection/pool.ts";
import { deleteJobRunner, upsertJobRunner } from "../sql/monitoring/job_runners.ts";
import { measureOldestDelivery } from "../sql/webhooks/webhook_deliveries.ts";

const WEBHOOK_RESULTS = ["delivered", "failed", "given_up"] as const;
const MAIL_RESULTS = ["sent", "stored", "failed", "rejected"] as const;

export type RunnerMetrics = ReturnType<typeof createRunnerMetrics>;

/** Registers the counters. Each starts at 0 with every label, so that the first increase is visible. */
export function createRunnerMetrics(registry: Registry) {
  const registers = [registry];
  const metrics = {
    builds: new Counter({
      name: "export_builds_total",
      help: "Builds of organization exports that ended, by result: ready or the error code",
      labelNames: ["result"],
      registers,
    }),
    buildRetries: new Counter({
      name: "export_build_retries_total",
      help: "Attempts to build an organization export that failed and are repeated",
      registers,
    }),
    mails: new Counter({
      name: "mails_total",
      help: "Attempts to send a mail, by result; failed ones are repeated, rejected ones are not, stored ones became files",
      labelNames: ["result"],
      registers,
    }),
    jobsGivenUp: new Counter({
      name: "jobs_given_up_total",
      help: "Background jobs that failed in their last attempt",
      labelNames: ["queue"],
      registers,
    }),
    webhookDeliveries: new Counter({
      name: "webhook_deliveries_total",
      help: "Attempts to deliver an event to a webhook, by result; failed ones are repeated, given_up counts disabled webhooks",
      labelNames: ["result"],
      registers,
    }),
  };
  for (const result of ["ready", ...EXPORT_JOB_ERROR_CODES.filter((code) => code !== "CANCELED")]) {
    metrics.builds.inc({ result }, 0);
  }
  for (const result of MAIL_RESULTS) metrics.mails.inc({ result }, 0);
  for (const result of WEBHOOK_RESULTS) metrics.webhookDeliveries.inc({ result }, 0);
  for (const queue of JOB_NAMES) metrics.jobsGivenUp.inc({ queue }, 0);
  return metrics;
}

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
    async () => [await measureOldestDelivery(sql)],
  );
}

/** How often a runner records that it is alive. */
const HEARTBEAT_MS = 5_000;

/**
 * Records every few seconds that this job runner is alive, for the metric `job_runners`. Settles when `signal` is aborted and
 * the record is deleted. Retries while the database is down.
 */
export async function keepHeartbeat(deps: { sql: Sql; log: Log }, signal: AbortSignal): Promise<void> {
  const id = crypto.randomUUID();
  while (!signal.aborted) {
    await upsertJobRunner(deps.sql, id).catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn({ err: error }, "cannot record that the job runner is alive");
    });
    await pause(HEARTBEAT_MS, signal);
  }
  // If the deletion fails, the row is ignored after 30 s.
  await deleteJobRunner(deps.sql, id).catch(() => {});
}
