/** Sends one delivery: signed, to an address that was checked as the connection was made, without redirects. */
import type { LookupAddress } from "node:dns";
import { lookup as resolveName } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type BlockList, isIP, type LookupFunction } from "node:net";
import { Webhook } from "standardwebhooks";
import { isDeliverable } from "../../shared/network/webhook_networks.ts";

const TIMEOUT_MS = 10_000;
const PRIVATE_ADDRESS = "the host has no public address";

export interface Delivery {
  /** The same with every attempt. */
  id: string;
  url: string;
  secret: string;
  payload: string;
}

export interface SendOptions {
  networks: BlockList;
  /** Aborted when the process has to stop. */
  signal: AbortSignal;
  timeoutMs?: number;
  /** Returns all addresses of a host; the system's resolver when omitted. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
}

/** `error` is null for a status of 2xx. */
export interface SendResult {
  responseStatus: number | null;
  error: string | null;
}

/** The host has an address to which nothing is delivered. */
class PrivateAddressError extends Error {
  override readonly name = "PrivateAddressError";

  constructor() {
    super(PRIVATE_ADDRESS);
  }
}

/** Sends the delivery once. Never throws: the result says why it failed. */
export async function sendDelivery(delivery: Delivery, options: SendOptions): Promise<SendResult> {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([timeout, options.signal]);
  try {
    const response = await withAbort(post(delivery, { ...options, signal }), signal);
    const { statusCode = 0 } = response;
    // The body is not read.
    response.destroy();
    if (statusCode >= 200 && statusCode < 300) return { responseStatus: statusCode, error: null };
    const isRedirect = statusCode >= 300 && statusCode < 400;
    const what = isRedirect ? `a redirect (${statusCode}), which is not followed` : `status ${statusCode}`;
    return { responseStatus: statusCode, error: `the receiver responded with ${what}` };
  } catch (error) {
    return { responseStatus: null, error: describe(error, timeout.aborted ? timeoutMs : null) };
  }
}

/** A look-up of names cannot be aborted. */
function withAbort<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", onAbort));
}

/** Says nothing that a receiver or a resolver has written. */
function describe(error: unknown, timeoutMs: number | null): string {
  if (timeoutMs !== null) return `the receiver did not respond within ${timeoutMs / 1000} s`;
  if (error instanceof PrivateAddressError) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return `the receiver cannot be reached: ${code || "unknown failure"}`;
}

function post(delivery: Delivery, options: SendOptions): Promise<IncomingMessage> {
  const url = new URL(delivery.url);
  const isTls = url.protocol === "https:";
  const literal = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(literal) !== 0 && !isDeliverable(options.networks, literal, { isTls })) {
    throw new PrivateAddressError();
  }
  const at = new Date();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const send = isTls ? requestHttps : requestHttp;
  const request = send(url.href, {
    method: "POST",
    signal: options.signal,
    agent: false,
    lookup: checkedLookup(options, isTls),
    headers: {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(delivery.payload),
      "User-Agent": "ulr-webhooks",
      "webhook-id": delivery.id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": new Webhook(delivery.secret).sign(delivery.id, at, delivery.payload),
    },
  });
  request.once("response", resolve).once("error", reject).end(delivery.payload);
  return promise;
}

/** Checks every address of a name. The connection is made to these very addresses, so no later look-up can differ. */
function checkedLookup(
  { networks, resolve = (name) => resolveName(name, { all: true }) }: SendOptions,
  isTls: boolean,
): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        const isAllowed = addresses.every(({ address }) => isDeliverable(networks, address, { isTls }));
        if (!first || !isAllowed) return callback(new PrivateAddressError(), []);
        if (all) return callback(null, addresses);
        callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}
