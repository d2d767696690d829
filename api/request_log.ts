/** The one log line of a request, and its measurement: written when the last byte is out, or the client gone. */
import type { Log } from "../shared/log.ts";
import type { Metrics } from "./metrics.ts";
import type { RequestContext, StreamEnd } from "./request_context.ts";

/** Ends a request's story. `end` tells of a streamed body. */
export type FinishRequest = (context: RequestContext, status: number, end?: StreamEnd) => void;

/** What the operator must see: our own failures with their stack; a client's mistakes are one quiet line. */
function causeOf(context: RequestContext, end: StreamEnd | undefined): unknown {
  if (end?.outcome === "failed") return end.error;
  return context.error && context.error.status >= 500 ? (context.error.cause ?? context.error) : undefined;
}

/** Never the URL, a header or a body: they may carry secrets and other people's data. */
export function createFinishRequest(deps: { log: Log; metrics: Metrics }): FinishRequest {
  return (context, status, end) => {
    const durationMs = Math.round((performance.now() - context.startedAt) * 10) / 10;
    const { method } = context;
    const route = context.route ?? "none";
    deps.metrics.observeRequest({ method, route, status }, durationMs / 1000);
    const cause = causeOf(context, end);
    const line = {
      requestId: context.requestId,
      method,
      route,
      status,
      durationMs,
      callerId: context.caller?.userId ?? null,
      credentialId: context.caller?.credential.id ?? null,
      address: context.address,
      ...(context.error ? { code: context.error.code } : {}),
      ...(end ? { outcome: end.outcome, bytes: end.bytes } : {}),
      ...context.fields,
      ...(cause === undefined ? {} : { err: cause }),
    };
    if (cause === undefined) deps.log.info(line, "request");
    else deps.log.error(line, "request failed");
  };
}
