/** The operations that operators use. */
import type { AnyOperation } from "../http/operation.ts";
import { getLiveness, getReadiness } from "./health.ts";
import { getMetrics } from "./metrics.ts";
import { getSecurityPolicy, getSecurityTxt } from "./security_txt.ts";

/** Metrics are served here only without METRICS_PORT. */
export function listMonitoringOperations(metricsPort: number | null): AnyOperation[] {
  const metrics = metricsPort === null ? [getMetrics] : [];
  return [getLiveness, getReadiness, ...metrics, getSecurityTxt, getSecurityPolicy];
}
