/** Sends one signed delivery. Checks the address while connecting, and does not follow redirects. */
import type { BlockList } from "node:net";
import { Webhook } from "standardwebhooks";
import { type OutgoingResponse, type Resolve, sendRequest } from "../../shared/network/outgoing_request.ts";
import { isDeliverable } from "../../shared/network/webhook_destination.ts";
import type { ClaimedDelivery } from "../../sql/webhooks/webhook_deliveries.ts";

const TIMEOUT_MS = 10_000;
/** Does not reveal whether a host name exists in the operator's own network. Webhooks must not allow probing that network. */
const NO_PUBLIC_ADDRESS = "the host has no public address, or does not exist";

type Delivery = Pick<ClaimedDelivery, "id" | "url" | "secrets" | "payload" | "claimedAt">;

export interface SendOptions {
  networks: BlockList;
  /** Aborted when the process shuts down. */
  signal: AbortSignal;
  timeoutMs?: number;
  resolve?: Resolve;
}

export interface SendResult {
  responseStatus: number | null;
  /** The message for the organization; null if the status is 2xx. */
  error: string | null;
  /** Details for the operator's log; null if `error` is sufficient. */
  cause: string | null;
}

/** The host has no address, or an address to which deliveries are not allowed. */
class NoPublicAddressError extends Error {
  override readonly name = "NoPublicAddressError";

  constructor(cause = "the host has an address that is not public") {
    super(cause);
  }
}

/** Sends the delivery once. Never throws: the result contains the reason for a failure. */
export async function sendDelivery(delivery: Delivery, options: SendOptions): Promise<SendResult> {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([timeout, options.signal]);
  try {
    const response = await post(delivery, { ...options, signal });
    const { statusCode = 0 } = response;
    response.destroy();
    if (statusCode >= 200 && statusCode < 300)
      return { responseStatus: statusCode, error: null, cause: null };
    const isRedirect = statusCode >= 300 && statusCode < 400;
    const what = isRedirect ? `a redirect (${statusCode}), which is not followed` : `status ${statusCode}`;
    return { responseStatus: statusCode, error: `the receiver responded with ${what}`, cause: null };
  } catch (error) {
    return { responseStatus: null, ...describe(error, timeout.aborted ? timeoutMs : null) };
  }
}

/** Describes a failure. Repeats no text of a receiver or resolver. Reveals nothing about our own network to the organization. */
function describe(error: unknown, timeoutMs: number | null): Pick<SendResult, "error" | "cause"> {
  if (timeoutMs !== null) {
    return { error: `the receiver did not respond within ${timeoutMs / 1000} s`, cause: null };
  }
  if (error instanceof NoPublicAddressError) return { error: NO_PUBLIC_ADDRESS, cause: error.message };
  return { error: "the receiver cannot be reached", cause: codeOf(error) };
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code.replace(/^DNS_/, "") || String(error);
}

function post(delivery: Delivery, { networks, signal, resolve }: SendOptions): Promise<OutgoingResponse> {
  const url = new URL(delivery.url);
  const isTls = url.protocol === "https:";
  // The timestamp is from the database's clock, because receivers reject a timestamp that is minutes off.
  const at = new Date(delivery.claimedAt);
  return sendRequest(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(delivery.payload),
      "User-Agent": "ulr-webhooks",
      "webhook-id": delivery.id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": sign(delivery, at),
    },
    body: delivery.payload,
    signal,
    check: {
      isAllowed: (address) => isDeliverable(networks, address, { isTls }),
      refusal: (unresolved) => new NoPublicAddressError(unresolved && codeOf(unresolved)),
      resolve,
    },
  });
}

/** Signs with each secret, so that a receiver can switch to a new secret. */
function sign({ id, secrets, payload }: Delivery, at: Date): string {
  return secrets.map((secret) => new Webhook(secret).sign(id, at, payload)).join(" ");
}
