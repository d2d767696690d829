/** Starts and ends a request's span. Its attributes follow OpenTelemetry's HTTP conventions and never include a URL or header. */
import type { Tracing } from "../../../shared/tracing/tracing.ts";
import type { RequestContext, StreamEnd } from "../request_context.ts";

/** Methods that are named in attributes. Other methods share one name, because clients can send any method. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Starts the span of a request, as a child of the caller's span if there is a valid `traceparent`. */
export function startRequestSpan(
  tracing: Tracing,
  { request, context, route }: { request: Request; context: RequestContext; route: string | null },
): void {
  const isKnown = METHODS.has(context.method);
  const name = isKnown ? context.method : "HTTP";
  const { headers } = request;
  context.span = tracing.startSpan(route === null ? name : `${name} ${route}`, {
    kind: "server",
    parent: { traceparent: headers.get("traceparent"), tracestate: headers.get("tracestate") },
    attributes: {
      "http.request.method": isKnown ? context.method : "_OTHER",
      "url.scheme": request.url.startsWith("https:") ? "https" : "http",
      "ulr.request_id": context.ownRequestId,
      ...(route === null ? {} : { "http.route": route }),
    },
  });
}

/** Ends the span with the response, or with the last byte of a stream. */
export function endRequestSpan({ span }: RequestContext, status: number, end: StreamEnd | undefined): void {
  if (!span) return;
  span.setAttributes({
    "http.response.status_code": status,
    ...(end ? { "ulr.stream.outcome": end.outcome } : {}),
    ...(typeof end?.bytes === "number" ? { "http.response.body.size": end.bytes } : {}),
  });
  if (status >= 500) span.fail(String(status));
  else if (end?.outcome === "failed" || end?.outcome === "cut") span.fail(end.reason ?? "stream_failed");
  span.end();
}
