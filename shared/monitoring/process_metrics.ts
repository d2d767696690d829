/** Metrics of every process: resource usage and event loop lag. */
import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { countDroppedLines } from "../process/log.ts";

/** How often the lag of the event loop is measured. */
const LAG_INTERVAL_MS = 100;
/**
 * The interval of the library's own measurement, which is not used. By default, it would wake the process a hundred times per
 * second.
 */
const UNUSED_LAG_INTERVAL_MS = 3_600_000;

/** Creates a registry with the standard process metrics and the event loop lag. Call it once per process. */
export function createProcessRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: UNUSED_LAG_INTERVAL_MS });
  // The names of all other default metrics would reveal the runtime.
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
