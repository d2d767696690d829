/** Opens tracing. The OpenTelemetry SDK is imported only if the environment switches it on. */
import type { Log } from "../process/log.ts";
import type { Tracing } from "./tracing.ts";

/** Opens tracing; null if OTEL_EXPORTER_OTLP_ENDPOINT is unset, or OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER switch it off. */
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
