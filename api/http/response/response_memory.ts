/** Limits the memory for large responses that slow clients have not read yet. */
import { Gauge } from "prom-client";
import { RETRY_AFTER } from "../../../shared/error_rows.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { Semaphore } from "../limits/slots.ts";
import type { Metrics } from "../metrics.ts";
import type { RequestContext } from "../request_context.ts";

const MIB = 2 ** 20;
/** Smaller responses fit into the system's socket buffers. */
const MIN_BYTES = 64 * 1024;
const LIMITS = { max: 32 * MIB, perHolder: 8 * MIB, perGroup: 32 * MIB };

/**
 * Creates the budget of one process: a function that counts the bytes of a body until it is sent or its connection is
 * lost; listen.ts closes a connection that is idle for a minute. It throws RATE_LIMITED if the caller's share is used up,
 * SERVICE_UNAVAILABLE if the total is.
 */
export function createClaimResponse({ registry }: Metrics) {
  const budget = new Semaphore(LIMITS);
  new Gauge({
    name: "http_large_response_bytes",
    help: "Bytes of large responses that clients have not read yet",
    registers: [registry],
    collect() {
      this.set(budget.used);
    },
  });
  return ({ method, caller, network, connection }: RequestContext, bytes: number): void => {
    if (bytes < MIN_BYTES || method === "HEAD") return;
    const holder = caller?.userId ?? network;
    const claim = { holder, group: null, amount: bytes, isOver: () => !connection.isOpen() };
    // A write has already happened, so its response is counted but never rejected.
    if (method !== "GET") {
      budget.hold(claim);
      return;
    }
    const result = budget.take(claim);
    if (!result.ok) throw budgetError(result.shortage === "holder");
  };
}

function budgetError(isOwnShare: boolean): ApiError {
  const retryAfter = RETRY_AFTER.stream;
  if (isOwnShare) {
    return new ApiError("RATE_LIMITED", {
      message: TEXTS.RATE_LIMITED.unread(LIMITS.perHolder / MIB),
      retryAfter,
    });
  }
  return new ApiError("SERVICE_UNAVAILABLE", {
    message: TEXTS.SERVICE_UNAVAILABLE.unread({ mebibytes: LIMITS.max / MIB, seconds: retryAfter }),
    retryAfter,
  });
}
