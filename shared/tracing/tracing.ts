/** The interface of tracing, independent of the library. */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface TraceSpan {
  /** The trace id for log lines. */
  readonly traceId: string;
  /** The W3C header that continues the trace in another process. */
  readonly traceparent: string;
  setAttributes(attributes: SpanAttributes): void;
  /** Marks the span as failed. `type` is a status code or the name of an error. */
  fail(type: string): void;
  end(): void;
}

export interface SpanOptions {
  kind: "server" | "consumer" | "internal";
  /** The W3C headers of the caller. If they are malformed, they are ignored and the span starts a new trace. */
  parent?: { traceparent: string | null | undefined; tracestate?: string | null };
  attributes?: SpanAttributes;
}

export interface Tracing {
  startSpan(name: string, options: SpanOptions): TraceSpan;
  /** Sends the remaining spans within at most two seconds. Never throws. */
  shutdown(): Promise<void>;
}
