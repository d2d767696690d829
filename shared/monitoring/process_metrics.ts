/** The metrics that every process has: what it uses, and how long its event loop is blocked. */
import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { countDroppedLines } from "../process/log.ts";

/** How often the event loop is measured. */
const LAG_INTERVAL_MS = 100;
/** The library's own measurement is not used; by default it would wake the process a hundred times a second. */
const UNUSED_LAG_INTERVAL_MS = 3_600_000;

/** Creates a registry with the standard process metrics and the lag of the event loop. Call it once per process. */
export function createProcessRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: UNUSED_LAG_INTERVAL_MS });
  // Metrics named after the runtime would reveal it.
  for (const { name } of registry.getMetricsAsArray()) {
    if (!name.startsWith("process_")) registry.removeSingleMetric(name);
  }
  measureEventLoop(registry);
  countLostLines(registry);
  return registry;
}

function countLostLines(registry: Registry): void {
  new Counter({
    name: "log_lines_dropped_total",
    help: "Log lines that stdout did not take: its disk is full, or its reader is gone",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(countDroppedLines());
    },
  });
}

function measureEventLoop(registry: Registry): void {
  const lag = new Histogram({
    name: "event_loop_lag_seconds",
    help: "How late a timer ran, measured ten times a second",
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  let dueAt = performance.now() + LAG_INTERVAL_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lag.observe(Math.max(0, now - dueAt) / 1000);
    dueAt = now + LAG_INTERVAL_MS;
  }, LAG_INTERVAL_MS);
  timer.unref();
}
