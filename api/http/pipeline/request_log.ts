/** Writes the log line and metrics of a request when the last byte is sent or the client has disconnected. */
import type { ApiError } from "../../../shared/errors.ts";
import type { Config } from "../../../shared/process/config.ts";
import type { Log } from "../../../shared/process/log.ts";
import { coarseNetworkOf } from "../client_address.ts";
import type { Metrics } from "../metrics.ts";
import type { RequestContext, StreamEnd } from "../request_context.ts";
import { endRequestSpan } from "./request_span.ts";

/** Returns the error to log with its stack: only failures of the service, not client errors. */
function causeOf({ error }: RequestContext, end: StreamEnd | undefined): unknown {
  if (end?.outcome === "failed") return end.error;
  if (!error || error.status < 500) return undefined;
  return error.cause ?? (isTurnedAway(error) ? undefined : error);
}

/** Returns true if the request was rejected because of a limit, which an operator may want to raise. */
function isTurnedAway(error: ApiError | null): boolean {
  return error?.code === "SERVICE_UNAVAILABLE" && error.cause === undefined;
}

/** Returns the level and message of the log line. */
function summarize({ error, route }: RequestContext, status: number, cause: unknown) {
  if (cause !== undefined) return ["error", "request failed"] as const;
  if (isTurnedAway(error)) return ["warn", "request turned away"] as const;
  // Monitoring polls these routes every few seconds.
  const isPoll = route === "/metrics" || route?.startsWith("/health/");
  return [isPoll && status < 400 ? "debug" : "info", "request"] as const;
}

/** Returns the address in the form that may be logged; `undefined` omits the field. */
function shownAddress(address: string, logAddresses: Config["logAddresses"]): string | undefined {
  if (logAddresses === "none") return undefined;
  return logAddresses === "network" ? coarseNetworkOf(address, 48) : address;
}

/**
 * Creates the function that logs and measures a finished request; `end` is the outcome of a streamed body. It logs no URL,
 * header or body, because they can contain secrets and personal data.
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
      // If the client sent its own id, both ids are logged, as in the audit log.
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
