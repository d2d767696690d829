/** Request metrics, and the registry of all other metrics. */
import { Counter, Histogram, Registry } from "prom-client";
import { createMetricsReader } from "../../shared/monitoring/metrics_server.ts";

const RATE_LIMIT_KINDS = ["user", "address", "page", "sign_in", "account_mail"] as const;
/** The limit that a request exceeded: `address` without a valid credential, `page` outside the API. */
export type RateLimitKind = (typeof RATE_LIMIT_KINDS)[number];

const SIGN_IN_RESULTS = ["succeeded", "failed"] as const;

export type Metrics = ReturnType<typeof createMetrics>;

/** Upper bounds in seconds: most responses take milliseconds, exports minutes. */
const DURATION_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/**
 * Registers the request metrics. Each app has its own registry, so two apps in one process count separately. Counters start at
 * 0 for every label value, so that the first increase is visible.
 */
export function createMetrics(registry = new Registry()) {
  const registers = [registry];
  const requestDuration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from the arrival of a request to the last byte of its response",
    labelNames: ["method", "route", "status"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const rateLimited = new Counter({
    name: "rate_limited_requests_total",
    help: "Requests that exceeded a rate limit, by the kind of limit",
    labelNames: ["kind"],
    registers,
  });
  const signIns = new Counter({
    name: "sign_ins_total",
    help: "Sign-in attempts that were within their rate limits, by result",
    labelNames: ["result"],
    registers,
  });
  for (const kind of RATE_LIMIT_KINDS) rateLimited.inc({ kind }, 0);
  for (const result of SIGN_IN_RESULTS) signIns.inc({ result }, 0);
  return {
    /** Other modules create their metrics with `registers: [registry]`. */
    registry,
    /** Returns all metrics as text, at most one second old. */
    read: createMetricsReader(registry),
    /**
     * Observes the duration of each finished request, in seconds. `route` is the pattern, which limits the number of label
     * values.
     */
    requestDuration,
    rateLimited,
    signIns,
  };
}
