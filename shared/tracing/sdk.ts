/** Implements tracing with the OpenTelemetry SDK, which sends spans as OTLP over HTTP. Imported only if tracing is enabled. */
import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Log } from "../process/log.ts";
import { withTimeout } from "../process/with_timeout.ts";
import type { SpanOptions, TraceSpan, Tracing } from "./tracing.ts";

/** An unavailable collector must not delay the process exit. */
const SHUTDOWN_TIMEOUT_MS = 2_000;
const PROTOCOL = "http/protobuf";

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, internal: SpanKind.INTERNAL } as const;

type Headers = NonNullable<SpanOptions["parent"]>;

const GETTER: TextMapGetter<Headers> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) =>
    (name === "traceparent" || name === "tracestate" ? headers[name] : undefined) ?? undefined,
};

/** Starts the SDK. It buffers up to 2048 spans for the collector and drops further spans. */
export function startSdk(
  env: Readonly<Record<string, string | undefined>>,
  { serviceName, log }: { serviceName: string; log: Log },
): Tracing {
  const warn = (message: string): void => log.warn({ event: "tracing.problem" }, message);
  // The SDK reports failed exports here. The messages contain the collector's URL, but never headers.
  const report = (message: string): void => log.warn({ event: "tracing.failed" }, message);
  diag.setLogger(
    { error: report, warn: report, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const protocol =
    env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] ?? env["OTEL_EXPORTER_OTLP_PROTOCOL"] ?? PROTOCOL;
  if (protocol !== PROTOCOL) warn(`OTEL_EXPORTER_OTLP_PROTOCOL: only ${PROTOCOL} is supported, and used`);
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": serviceName }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(env, warn),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const tracer = provider.getTracer("ulr");
  const propagator = new W3CTraceContextPropagator();
  return {
    startSpan(name, { kind, parent, attributes = {} }) {
      const context: Context = parent ? propagator.extract(ROOT_CONTEXT, parent, GETTER) : ROOT_CONTEXT;
      return wrap(tracer.startSpan(name, { kind: KINDS[kind], attributes }, context));
    },
    async shutdown() {
      await withTimeout(provider.shutdown(), SHUTDOWN_TIMEOUT_MS).catch((error: unknown) =>
        log.warn({ event: "tracing.failed", err: error }, "cannot send the last spans"),
      );
    },
  };
}

function wrap(span: ReturnType<ReturnType<TracerProvider["getTracer"]>["startSpan"]>): TraceSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`,
    setAttributes: (attributes) => void span.setAttributes(attributes),
    fail(type) {
      span.setAttribute("error.type", type);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    end: () => span.end(),
  };
}

const DEFAULT = "parentbased_always_on";

/** Returns the sampler. For an unknown sampler or an invalid ratio, calls `onProblem` with a message and uses the default. */
export function createSampler(
  env: Readonly<Record<string, string | undefined>>,
  onProblem: (problem: string) => void,
): Sampler {
  const name = env["OTEL_TRACES_SAMPLER"]?.trim() || DEFAULT;
  const [, parentBased, rootName = ""] = /^(parentbased_)?(.+)$/.exec(name) ?? [];
  const root = createRoot(rootName, () => readRatio(env["OTEL_TRACES_SAMPLER_ARG"], onProblem));
  if (!root) {
    onProblem(`OTEL_TRACES_SAMPLER: unknown sampler; using ${DEFAULT}`);
    return new ParentBasedSampler({ root: new AlwaysOnSampler() });
  }
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

function createRoot(name: string, ratio: () => number): Sampler | null {
  if (name === "always_on") return new AlwaysOnSampler();
  if (name === "always_off") return new AlwaysOffSampler();
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(ratio());
  return null;
}

function readRatio(text: string | undefined, onProblem: (problem: string) => void): number {
  const ratio = Number(text?.trim() || 1);
  if (ratio >= 0 && ratio <= 1) return ratio;
  onProblem("OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1; using 1");
  return 1;
}
