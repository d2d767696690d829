/** What the processes need of traces, whatever library sends them. */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface TraceSpan {
  /** For log lines. */
  readonly traceId: string;
  /** Continues the trace elsewhere, as the W3C header of this name. */
  readonly traceparent: string;
  setAttributes(attributes: SpanAttributes): void;
  /** Marks what the span describes as failed. `type` is a status code or the name of an error. */
  fail(type: string): void;
  end(): void;
}

export interface SpanOptions {
  kind: "server" | "consumer" | "internal";
  /** W3C headers of the caller. Malformed ones are ignored; then the span begins a trace. */
  parent?: { traceparent: string | null | undefined; tracestate?: string | null };
  attributes?: SpanAttributes;
}

export interface Tracing {
  startSpan(name: string, options: SpanOptions): TraceSpan;
  /** Sends what is left, for at most two seconds. Never throws. */
  shutdown(): Promise<void>;
}
