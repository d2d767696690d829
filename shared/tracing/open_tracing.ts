/** Opens tracing. Imports the OpenTelemetry SDK only if the environment enables tracing. */
import type { Log } from "../process/log.ts";
import type { Tracing } from "./tracing.ts";

/**
 * Opens tracing. Returns null if OTEL_EXPORTER_OTLP_ENDPOINT is unset, or if OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER
 * disables tracing.
 */
export async function openTracing(
  env: Readonly<Record<string, string | undefined>>,
  options: { serviceName: string; log: Log },
): Promise<Tracing | null> {
  if (!env["OTEL_EXPORTER_OTLP_ENDPOINT"]?.trim()) return null;
  if (env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true") return null;
  if (env["OTEL_TRACES_EXPORTER"]?.trim() === "none") return null;
  const { startSdk } = await import("./sdk.ts");
  return startSdk(env, options);
}
