/** Gauges whose values are read at each scrape, from where reading may fail or hang. */
import { Gauge, type Registry } from "prom-client";
import type { Log } from "../process/log.ts";
import { withTimeout } from "../process/with_timeout.ts";

/** Prometheus waits ten seconds for a scrape by default. */
const READ_TIMEOUT_MS = 2_000;

export interface MeasuredGauge<Label extends string> {
  name: string;
  help: string;
  labelNames?: readonly Label[];
}

export type Sample<Label extends string> = { labels: Partial<Record<Label, string>>; value: number };

/**
 * Registers gauges that one call of `read` fills, in the order of `gauges`. They have no samples while `read` fails or takes
 * longer than 2 s. A scrape does not call `read` while an earlier call is pending, so a silent database gets one query in half
 * a minute.
 */
export function registerMeasuredGauges<Label extends string>(
  { registry, log }: { registry: Registry; log: Log },
  gauges: readonly MeasuredGauge<Label>[],
  read: () => Promise<readonly (readonly Sample<Label>[])[]>,
): void {
  const readOnce = shareFor(0, read);
  for (const [index, { name, help, labelNames = [] }] of gauges.entries()) {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset();
        // Without labels, `reset` leaves a sample of 0, which would be a measurement.
        if (labelNames.length === 0) this.remove();
        try {
          const samples = await withTimeout(readOnce(), READ_TIMEOUT_MS);
          for (const { labels, value } of samples[index] ?? []) this.set(labels, value);
        } catch (error) {
          log.warn({ event: "metrics.unreadable", metric: name, err: error }, "cannot read a metric");
        }
      },
    });
  }
}

/** The time limit of a request. A call that has not settled by then is repeated. */
const LOST_AFTER_MS = 30_000;

/**
 * Wraps `make`, so that the work of a public endpoint does not grow with its requests: calls share a pending result, and reuse a
 * settled one (also a failure) for `ms` milliseconds. `now` returns milliseconds since any point.
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
