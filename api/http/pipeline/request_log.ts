/** The log line and the metrics of a request, written when the last byte is sent or the client has disconnected. */
import type { ApiError } from "../../../shared/errors.ts";
import type { Config } from "../../../shared/process/config.ts";
import type { Log } from "../../../shared/process/log.ts";
import { coarseNetworkOf } from "../client_address.ts";
import type { Metrics } from "../metrics.ts";
import type { RequestContext, StreamEnd } from "../request_context.ts";
import { endRequestSpan } from "./request_span.ts";

/** Returns the error to log with its stack: our own failures, not the client's mistakes. */
function causeOf({ error }: RequestContext, end: StreamEnd | undefined): unknown {
  if (end?.outcome === "failed") return end.error;
  if (!error || error.status < 500) return undefined;
  return error.cause ?? (isTurnedAway(error) ? undefined : error);
}

/** True if nothing has failed but a limit is reached, which an operator may want to raise. */
function isTurnedAway(error: ApiError | null): boolean {
  return error?.code === "SERVICE_UNAVAILABLE" && error.cause === undefined;
}

/** Returns the level and the message of the line. */
function summarize({ error, route }: RequestContext, status: number, cause: unknown) {
  if (cause !== undefined) return ["error", "request failed"] as const;
  if (isTurnedAway(error)) return ["warn", "request turned away"] as const;
  // Monitoring polls these every few seconds.
  const isPoll = route === "/metrics" || route?.startsWith("/health/");
  return [isPoll && status < 400 ? "debug" : "info", "request"] as const;
}

/** Returns the address as log lines may show it; `undefined` leaves the field out. */
function shownAddress(address: string, logAddresses: Config["logAddresses"]): string | undefined {
  if (logAddresses === "none") return undefined;
  return logAddresses === "network" ? coarseNetworkOf(address, 48) : address;
}

/**
 * Creates the function that logs and measures a finished request; `end` is the outcome of a streamed body. It logs no URL,
 * header or body, which may carry secrets and personal data.
 */
export function createFinishRequest(deps: {
  config: Pick<Config, "logAddresses">;
  log: Log;
  metrics: Metrics;
}) {
  return (context: RequestContext, status: number, end?: StreamEnd): void => {
    const durationMs = Math.round((performance.now() - context.startedAt) * 10) / 10;
    const { method } = context;
    const route = context.route ?? "none";
    deps.metrics.requestDuration.observe({ method, route, status }, durationMs / 1000);
    endRequestSpan(context, status, end);
    const cause = causeOf(context, end);
    const { requestId, ownRequestId } = context;
    const line = {
      requestId,
      // A client's id is logged along with ours. The audit log has both.
      ownRequestId: requestId === ownRequestId ? undefined : ownRequestId,
      traceId: context.span?.traceId,
      method,
      route,
      status,
      durationMs,
      callerId: context.caller?.userId ?? null,
      credentialId: context.caller?.credential.id ?? null,
      address: shownAddress(context.address, deps.config.logAddresses),
      code: context.error?.code,
      ...(end ? { outcome: end.outcome, bytes: end.bytes ?? undefined, reason: end.reason } : {}),
      ...context.fields,
      ...(cause === undefined ? {} : { err: cause }),
    };
    const [level, message] = summarize(context, status, cause);
    deps.log[level](line, message);
  };
}
