/** The state of a request while it is served: caller, route, and fields of the log line. */
import { ApiError } from "../../shared/errors.ts";
import type { TraceSpan } from "../../shared/tracing/tracing.ts";
import type { IdempotencyKey } from "../../sql/accounts/idempotency_keys.ts";
import type { Caller } from "./caller.ts";
import { networkOf } from "./client_address.ts";
import type { SentCredential } from "./credentials.ts";
import type { RateLimit } from "./rate_counter.ts";
import type { JsonObject } from "./route.ts";

/** The parts of the client's connection that a response uses. */
export interface ClientConnection {
  /** False once the kernel has accepted the whole response, or the connection is lost. */
  isOpen(): boolean;
  /** Resolves once `isOpen` is false. The result is false if the connection was lost before the whole response was accepted. */
  whenOver(): Promise<boolean>;
  /**
   * Disables the idle timeout, because an export sends nothing while its reader pauses. The connection must close with the
   * response.
   */
  mayBeSilent(): void;
  /** Returns the number of bytes that the client has acknowledged on this connection; null if unknown. */
  acknowledgedBytes(): number | null;
  /** Resets the connection within seconds. Unsent data is dropped, and neither side can take the response for complete. */
  reset(): void;
}

/** Why a stream was cut off. */
export type CutReason = "lasted_too_long" | "reader_too_slow" | "access_ended";

/** How a streamed body ended: complete, aborted by the client, cut off by a limit, or failed. */
export interface StreamEnd {
  outcome: "complete" | "aborted" | "cut" | "failed";
  reason?: CutReason;
  /** Bytes of the body that were sent; null if unknown. */
  bytes: number | null;
  /** The error of a failed stream. */
  error?: unknown;
}

export interface ApiCall {
  /** Default: GET. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The slug of the call's organization, sent as `X-Org-Slug`. */
  org?: string | undefined;
  /** The request body, sent as JSON. */
  body?: unknown;
  /** Sent as `Idempotency-Key`, so that a form sent twice writes once. */
  idempotencyKey?: string;
}

/** Calls a path under /api/v1 as the page's caller. Throws the ApiError that a client would get. */
export type CallApi = (path: string, call?: ApiCall) => Promise<Response>;

export interface RequestContext {
  /** The client's request, with its body. Handlers get a request without a body. */
  readonly request: Request;
  /** The URL with its canonical path. */
  readonly url: URL;
  /** The client's `X-Request-Id`, or the service's own id. */
  readonly requestId: string;
  /** The service's own id, which is unique. */
  readonly ownRequestId: string;
  /** The client's method. Handlers get `GET` for `HEAD`. */
  readonly method: string;
  /** The client's address; `unknown` without a connection. */
  readonly address: string;
  readonly connection: ClientConnection;
  /** Key for per-address rate limits: an IPv6 client counts as its /64. */
  readonly network: string;
  /** The `User-Agent` header, truncated; null if missing. */
  readonly userAgent: string | null;
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number;
  /** True once the request is authenticated and within its rate limit. API calls of a page start with true. */
  isAdmitted: boolean;
  /** The request's span; null if it is not traced. */
  span: TraceSpan | null;
  /** The pattern that matched, such as `/api/v1/export/datasets`; null if no route matched. */
  route: string | null;
  /** False for the API calls of a page request that only reads. */
  mayWrite: boolean;
  /** True if the route may write. */
  writes: boolean;
  /** `null` for anonymous callers. */
  caller: Caller | null;
  /** The caller's credential; `null` for anonymous callers. */
  sentCredential: SentCredential | null;
  /** The organization of the request. The caller is one of its members. */
  orgId: string | null;
  /** True if the credential is the session cookie, which browsers also add to requests from other sites' pages. */
  usesCookie: boolean;
  /** The `Idempotency-Key` that the request's writes claim; null without one. */
  idempotencyKey: IdempotencyKey | null;
  /** The parsed body; `{}` for GET and for a missing body. A page's body has one field, `form`, with URLSearchParams. */
  body: JsonObject;
  error: ApiError | null;
  /** The limit that the request counted against. */
  rateLimit: RateLimit | null;
  /** Headers to add to the response, including error responses. */
  readonly responseHeaders: Record<string, string>;
  /** Additional log fields: ids, counts and the service's own names, never values from the request. */
  readonly fields: Record<string, unknown>;
  /** Settles when the streamed body has ended; null for other bodies. */
  streamEnd: Promise<StreamEnd> | null;
  /** Calls the API for a page; null if the route is not a page. */
  callApi: CallApi | null;
}

/** The format of request ids that clients can set with `X-Request-Id`. Other ids are replaced. */
export const ACCEPTED_REQUEST_ID = /^[A-Za-z0-9_.-]{1,128}$/;

/** Browsers send about 120 characters. */
const USER_AGENT_MAX_LENGTH = 300;

/** Returns the context of a request that has just arrived. */
export function newContext(
  request: Request,
  { url, address, connection }: Pick<RequestContext, "url" | "address" | "connection">,
): RequestContext {
  const ownRequestId = crypto.randomUUID();
  const givenId = request.headers.get("x-request-id");
  return {
    request,
    url,
    requestId: givenId !== null && ACCEPTED_REQUEST_ID.test(givenId) ? givenId : ownRequestId,
    ownRequestId,
    method: request.method,
    address,
    connection,
    network: networkOf(address),
    userAgent: request.headers.get("user-agent")?.slice(0, USER_AGENT_MAX_LENGTH) ?? null,
    startedAt: performance.now(),
    isAdmitted: false,
    span: null,
    route: null,
    mayWrite: true,
    writes: false,
    caller: null,
    sentCredential: null,
    ...newOutcome(),
  };
}

/** Returns the initial values of the fields that a request, or a page's API call, sets while it is served. */
function newOutcome() {
  return {
    orgId: null,
    usesCookie: false,
    idempotencyKey: null,
    body: {},
    error: null,
    rateLimit: null,
    responseHeaders: {},
    fields: {},
    streamEnd: null,
    callApi: null,
  };
}

/** Returns the context of a page's API call, with the page's caller, ids and time limit. */
export function callContext(page: RequestContext, request: Request, url: URL): RequestContext {
  // A page's API call never sends a file, so the page's connection keeps its idle timeout.
  const connection = { ...page.connection, mayBeSilent: () => {} };
  return {
    ...page,
    connection,
    request,
    url,
    method: request.method,
    mayWrite: page.writes,
    ...newOutcome(),
  };
}

const contexts = new WeakMap<Request, RequestContext>();

/** Associates the context with the request that handlers see. */
export function bindContext(request: Request, context: RequestContext): void {
  contexts.set(request, context);
}

/** Returns the context of a request that a handler gets. */
export function requestContext(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("Cannot find the context: the request did not come through handle()");
  return context;
}

/** Returns true once the client has disconnected or received an error, such as a timeout. */
export function isRequestOver(request: Request): boolean {
  return request.signal.aborted || requestContext(request).error !== null;
}

/** Throws SERVICE_UNAVAILABLE if the request is over: no client is waiting for the response. */
export function requireWaiting(request: Request): void {
  if (isRequestOver(request)) throw new ApiError("SERVICE_UNAVAILABLE");
}

/**
 * Announces that the response body is streamed. Call it once the request can no longer be rejected. The returned function ends
 * the stream: its first call logs and measures the request, and later calls do nothing.
 */
export function announceStream(request: Request): (end: StreamEnd) => void {
  const { promise, resolve } = Promise.withResolvers<StreamEnd>();
  requestContext(request).streamEnd = promise;
  return resolve;
}
