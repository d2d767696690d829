/** Prometheus metrics of background jobs. The jobs are in the database, so each API process reports the whole service. */
import type { Registry } from "prom-client";
import { JOB_NAMES } from "../../shared/background_jobs.ts";
import { registerMeasuredGauges } from "../../shared/monitoring/measured_gauge.ts";
import type { Log } from "../../shared/process/log.ts";
import { BUILD_FAULTS } from "../../shared/vocabulary.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import {
  DEPTH_STATES,
  listQueueDepths,
  listRecentBuilds,
  listWaitingBuilds,
} from "../../sql/exports/job_metrics.ts";
import { countJobRunners } from "../../sql/monitoring/job_runners.ts";

const QUANTILES = ["0.5", "0.95", "1"] as const;

/** Registers the gauges, which have no samples while the database is down. */
export function registerJobMetrics(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  registerQueueMetrics(registry, { sql, log });
  registerMeasuredGauges(
    { registry, log },
    [{ name: "job_runners", help: "Job runners that were alive in the last 30 seconds" }],
    async () => [await countJobRunners(sql)],
  );
  registerMeasuredGauges<"needs">(
    { registry, log },
    [
      {
        name: "export_jobs_waiting",
        help: "Organization exports that wait because what they need failed: storage or database",
        labelNames: ["needs"],
      },
    ],
    async () => {
      const rows = await listWaitingBuilds(sql);
      const jobsOf = (needs: string) => rows.find((row) => row.needs === needs)?.jobs ?? 0;
      return [BUILD_FAULTS.map((needs) => ({ labels: { needs }, value: jobsOf(needs) }))];
    },
  );
  registerBuildMetrics(registry, { sql, log });
}

function registerQueueMetrics(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  registerMeasuredGauges<"queue" | "state">(
    { registry, log },
    [
      {
        name: "job_queue_depth",
        help: "Background jobs that wait, wait for a retry, run, or were given up",
        labelNames: ["queue", "state"],
      },
      {
        name: "job_queue_oldest_seconds",
        help: "How long the oldest due background job has waited for a job runner; 0 if none waits",
        labelNames: ["queue"],
      },
    ],
    async () => {
      const rows = await listQueueDepths(sql, JOB_NAMES);
      const depths = JOB_NAMES.flatMap((queue) =>
        DEPTH_STATES.map((state) => {
          const row = rows.find((found) => found.queue === queue && found.state === state);
          return { labels: { queue, state }, value: row?.entries ?? 0 };
        }),
      );
      const ages = JOB_NAMES.map((queue) => {
        const waits = rows.flatMap((row) => (row.queue === queue ? (row.oldestSeconds ?? 0) : []));
        return { labels: { queue }, value: Math.max(0, ...waits) };
      });
      return [depths, ages];
    },
  );
}

function registerBuildMetrics(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  registerMeasuredGauges<"result" | "quantile">(
    { registry, log },
    [
      {
        name: "export_jobs_finished_last_day",
        help: "Organization exports that ended in the last 24 hours, by result: ready or the error code",
        labelNames: ["result"],
      },
      {
        name: "export_job_duration_seconds",
        help: "Time from queueing to the end of organization exports that ended in the last 24 hours",
        labelNames: ["result", "quantile"],
      },
    ],
    async () => {
      const rows = await listRecentBuilds(sql);
      const counts = rows.map(({ result, jobs }) => ({ labels: { result }, value: jobs }));
      const durations = rows.flatMap(({ result, seconds }) =>
        QUANTILES.map((quantile, index) => ({ labels: { result, quantile }, value: seconds[index] ?? 0 })),
      );
      return [counts, durations];
    },
  );
}
