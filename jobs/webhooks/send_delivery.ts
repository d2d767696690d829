/** Sends one delivery: signed, to an address that was checked as the connection was made, without redirects. */
import type { LookupAddress } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type BlockList, isIP, type LookupFunction } from "node:net";
import { Webhook } from "standardwebhooks";
import { isDeliverable } from "../../shared/network/public_address.ts";

const TIMEOUT_MS = 10_000;
/** The same whether a name of the operator's own network exists or not: a webhook is no way to look that up. */
const NO_PUBLIC_ADDRESS = "the host has no public address, or does not exist";

export interface Delivery {
  /** The same with every attempt. */
  id: string;
  url: string;
  /** Each signs, so that a receiver can be given another one. */
  secrets: readonly string[];
  payload: string;
}

export interface SendOptions {
  networks: BlockList;
  /** Aborted when the process has to stop. */
  signal: AbortSignal;
  timeoutMs?: number;
  /** Returns all addresses of a host. If omitted, `/etc/hosts` and DNS are asked. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
}

export interface SendResult {
  responseStatus: number | null;
  /** For the organization; null for a status of 2xx. */
  error: string | null;
  /** For the operator's log; null if `error` says it all. */
  cause: string | null;
}

/** The host has an address to which nothing is delivered, or none. */
class NoPublicAddressError extends Error {
  override readonly name = "NoPublicAddressError";

  constructor(cause = "the host has an address that is not public") {
    super(cause);
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
    if (statusCode >= 200 && statusCode < 300)
      return { responseStatus: statusCode, error: null, cause: null };
    const isRedirect = statusCode >= 300 && statusCode < 400;
    const what = isRedirect ? `a redirect (${statusCode}), which is not followed` : `status ${statusCode}`;
    return { responseStatus: statusCode, error: `the receiver responded with ${what}`, cause: null };
  } catch (error) {
    return { responseStatus: null, ...describe(error, timeout.aborted ? timeoutMs : null) };
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

/** Says nothing that a receiver or a resolver has written, and to the organization nothing of our own network. */
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

function post(delivery: Delivery, options: SendOptions): Promise<IncomingMessage> {
  const url = new URL(delivery.url);
  const isTls = url.protocol === "https:";
  const literal = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(literal) !== 0 && !isDeliverable(options.networks, literal, { isTls })) {
    throw new NoPublicAddressError();
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
      "webhook-signature": sign(delivery, at),
    },
  });
  request.once("response", resolve).once("error", reject).end(delivery.payload);
  return promise;
}

function sign({ id, secrets, payload }: Delivery, at: Date): string {
  return secrets.map((secret) => new Webhook(secret).sign(id, at, payload)).join(" ");
}

/**
 * Does not ask the C library, which holds a thread for each name. Files are read and written on the same few threads, so two
 * names whose servers are silent would stop every build.
 */
function resolveName(hostname: string): Promise<LookupAddress[]> {
  return Bun.dns.lookup(hostname, { backend: "c-ares" });
}

/** Checks every address of a name. The connection is made to these very addresses, so no later look-up can differ. */
function checkedLookup({ networks, resolve = resolveName }: SendOptions, isTls: boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        const isAllowed = addresses.every(({ address }) => isDeliverable(networks, address, { isTls }));
        if (!first || !isAllowed) return callback(new NoPublicAddressError(), []);
        if (all) return callback(null, addresses);
        callback(null, first.address, first.family);
      },
      (error) => callback(new NoPublicAddressError(codeOf(error)), []),
    );
  };
}
