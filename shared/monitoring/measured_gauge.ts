/** Gauges whose values are read at each scrape, from sources that may fail or hang. */
import { Gauge, type Registry } from "prom-client";
import type { Log } from "../process/log.ts";
import { withTimeout } from "../process/with_timeout.ts";

/** Shorter than Prometheus's default scrape timeout of ten seconds. */
const READ_TIMEOUT_MS = 2_000;

export interface GaugeDescription<Label extends string> {
  name: string;
  help: string;
  labelNames?: readonly Label[];
}

/** The value of a gauge without labels, or the samples of a gauge with labels. */
export type Measurement<Label extends string> =
  | number
  | readonly { labels: Partial<Record<Label, string>>; value: number }[];

/** Registers a gauge whose value `read` returns at each scrape. `read` must not fail, and the other metrics wait for it. */
export function registerGauge<Label extends string>(
  registry: Registry,
  options: GaugeDescription<Label> & { read: () => Measurement<Label> | Promise<Measurement<Label>> },
): void {
  const { name, help, labelNames = [], read } = options;
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      const measured = await read();
      this.reset();
      if (typeof measured === "number") return this.set(measured);
      // For a gauge without labels, `reset` leaves a sample of 0, which would count as a measurement.
      if (labelNames.length === 0) this.remove();
      for (const { labels, value } of measured) this.set(labels, value);
    },
  });
}

/**
 * Registers gauges whose values a single call of `read` returns, in the order of `gauges`. The gauges have no samples while
 * `read` fails or takes longer than 2 s. A scrape does not call `read` while an earlier call is pending. An unresponsive
 * database therefore gets one query per half minute.
 */
export function registerMeasuredGauges<Label extends string>(
  { registry, log }: { registry: Registry; log: Log },
  gauges: readonly GaugeDescription<Label>[],
  read: () => Promise<readonly Measurement<Label>[]>,
): void {
  const readOnce = shareFor(0, read);
  for (const [index, gauge] of gauges.entries()) {
    const readShare = async () => {
      try {
        return (await withTimeout(readOnce(), READ_TIMEOUT_MS))[index] ?? [];
      } catch (error) {
        log.warn({ event: "metrics.unreadable", metric: gauge.name, err: error }, "cannot read a metric");
        return [];
      }
    };
    registerGauge(registry, { ...gauge, read: readShare });
  }
}

/** The time limit of a request. If a call has not settled by then, a new call is made. */
const LOST_AFTER_MS = 30_000;

/**
 * Wraps `make` for a public endpoint, so that the work does not grow with the number of requests. Calls share a pending result, and
 * reuse a settled result, even a failure, for `ms` milliseconds. `now` returns milliseconds since an arbitrary fixed point.
 */
export function shareFor<Result>(
  ms: number,
  make: () => Promise<Result>,
  now: () => number = () => performance.now(),
): () => Promise<Result> {
  let shared: Promise<Result> | null = null;
  let sharedUntil = 0;
  return () => {
    if (shared && now() < sharedUntil) return shared;
    sharedUntil = now() + LOST_AFTER_MS;
    const made = make().finally(() => {
      if (shared === made) sharedUntil = now() + ms;
    });
    shared = made;
    return made;
  };
}
