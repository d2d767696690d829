/** Bounds what large answers take of a process's memory until slow readers have taken them. */
import { Gauge } from "prom-client";
import { ApiError } from "../../../shared/errors.ts";
import type { Metrics } from "../../monitoring/metrics.ts";
import type { RequestContext } from "../request_context.ts";
import { Semaphore } from "../semaphore.ts";

const MIB = 2 ** 20;
/** Shorter ones wait in the buffers of the system, not in ours. */
const MIN_BYTES = 64 * 1024;
const LIMITS = { max: 32 * MIB, perHolder: 8 * MIB, perGroup: 32 * MIB };
const RETRY_SECONDS = 5;

/**
 * Counts a body of so many bytes until it was sent, or its connection lost: one that moves nothing for a minute is closed
 * (listen.ts). Throws RATE_LIMITED when the caller's share is on its way already, SERVICE_UNAVAILABLE when all is.
 */
export type ClaimResponse = (context: RequestContext, bytes: number) => void;

/** Makes the budget of one process. */
export function createClaimResponse({ registry }: Metrics): ClaimResponse {
  const budget = new Semaphore(LIMITS);
  new Gauge({
    name: "http_large_response_bytes",
    help: "Bytes of large responses that clients have not read yet",
    registers: [registry],
    collect() {
      this.set(budget.used);
    },
  });
  return ({ method, caller, network, connection }, bytes) => {
    if (bytes < MIN_BYTES || method === "HEAD") return;
    const holder = caller?.userId ?? network;
    const claim = { holder, group: null, amount: bytes, isOver: () => !connection.isOpen() };
    // What was written is not taken back: its response is counted and never refused.
    if (method !== "GET") {
      budget.hold(claim);
      return;
    }
    const result = budget.take(claim);
    if (!result.ok) throw budgetError(result.shortage === "holder");
  };
}

function budgetError(isOwnShare: boolean): ApiError {
  const advice = "Request a smaller page, or accept gzip or zstd";
  const headers = { "Retry-After": String(RETRY_SECONDS) };
  if (isOwnShare) {
    return new ApiError("RATE_LIMITED", {
      message: `You have ${LIMITS.perHolder / MIB} MiB of unread responses. Read them first. ${advice}.`,
      headers,
    });
  }
  return new ApiError("SERVICE_UNAVAILABLE", {
    message: `${LIMITS.max / MIB} MiB of responses are waiting for slow clients. ${advice}, or retry in ${RETRY_SECONDS} s.`,
    headers,
  });
}
