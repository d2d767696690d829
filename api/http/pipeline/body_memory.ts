/** Limits the memory for large bodies: requests that slow clients are still sending, and responses that they have not read. */
import { TEXTS } from "../../../shared/error_texts.ts";
import { registerGauge } from "../../../shared/monitoring/measured_gauge.ts";
import { LARGE_BODY_BYTES } from "../body/request_body.ts";
import { Slots } from "../limits/slots.ts";
import type { Metrics } from "../metrics.ts";
import type { RequestContext } from "../request_context.ts";

const MIB = 2 ** 20;

const REQUESTS = {
  gauge: "http_large_request_bytes",
  help: "Bytes of large request bodies that are read or whose request is not answered yet",
  mebibytes: { all: 64, anonymous: 16, holder: 8 },
  text: "unsent",
} as const;

const RESPONSES = {
  gauge: "http_large_response_bytes",
  help: "Bytes of large responses that clients have not read yet",
  mebibytes: { all: 32, anonymous: 16, holder: 8 },
  text: "unread",
} as const;

type Budget = typeof REQUESTS | typeof RESPONSES;

/**
 * Creates the process's budget for request bodies. The returned function counts the bytes of a large body until its response is
 * sent or its connection is lost. It throws RATE_LIMITED if the caller's share is used up. It throws SERVICE_UNAVAILABLE if the
 * total, or the share of all anonymous callers, is used up. That share leaves memory for users, however many networks an
 * attacker has.
 */
export function createClaimRequestBody(metrics: Metrics) {
  const budget = openBudget(metrics, REQUESTS);
  return (context: RequestContext, bytes: number): void => {
    budget.take(claimOf(context, bytes));
  };
}

/**
 * Creates the process's budget for response bodies. The returned function counts the bytes of a body until it is sent or its
 * connection is lost; listen.ts closes connections that are idle for a minute. For GET, the function throws the same errors as
 * the budget for requests.
 */
export function createClaimResponse(metrics: Metrics) {
  const budget = openBudget(metrics, RESPONSES);
  return (context: RequestContext, bytes: number): void => {
    const { method } = context;
    if (bytes < LARGE_BODY_BYTES || method === "HEAD") return;
    const claim = claimOf(context, bytes);
    // A write has already happened, so its response is counted but never rejected.
    if (method === "GET") budget.take(claim);
    else budget.hold(claim);
  };
}

function openBudget({ registry }: Metrics, { gauge, help, mebibytes, text }: Budget): Slots {
  const { all, anonymous, holder } = mebibytes;
  const budget = new Slots(
    { max: all * MIB, perGroup: anonymous * MIB, perHolder: holder * MIB },
    {
      holder: () => TEXTS.RATE_LIMITED[text](holder),
      all: ({ limit, seconds }) => TEXTS.SERVICE_UNAVAILABLE[text]({ mebibytes: limit / MIB, seconds }),
    },
  );
  registerGauge(registry, { name: gauge, help, read: () => budget.used });
  return budget;
}

function claimOf({ caller, network, connection }: RequestContext, amount: number) {
  const isOver = () => !connection.isOpen();
  return caller
    ? { holder: caller.userId, group: null, amount, isOver }
    : { holder: network, group: "anonymous", amount, isOver };
}
