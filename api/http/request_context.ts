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
  /** False once the operating system has taken the whole response, or the connection is lost. */
  isOpen(): boolean;
  /** Resolves when the connection is no longer open: to false if it was lost before the whole response was taken. */
  whenOver(): Promise<boolean>;
  /** Lets the response be silent for longer, as an export is while its reader pauses. The connection must end with it. */
  mayBeSilent(): void;
  /** Returns the bytes that the client has acknowledged on this connection; null if the system does not tell. */
  acknowledgedBytes(): number | null;
  /** Resets the connection within some seconds: neither side can take it for complete, and nothing of it is kept. */
  reset(): void;
}

/** The limit that a stream was cut off by. */
export type CutReason = "lasted_too_long" | "reader_too_slow" | "access_ended";

/** How a streamed body ended: complete, aborted by the client, cut off by a limit, or failed. */
export interface StreamEnd {
  outcome: "complete" | "aborted" | "cut" | "failed";
  reason?: CutReason;
  /** Bytes of the body that were sent; null if unknown. */
  bytes: number | null;
  /** Why it failed. */
  error?: unknown;
}

export interface ApiCall {
  /** GET if omitted. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Slug of the organization that the call is about. */
  org?: string | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as `Idempotency-Key`, so that a form sent twice writes once. */
  idempotencyKey?: string;
}

/** Calls a path under /api/v1 as the page's caller. Throws the ApiError that a client would get. */
export type CallApi = (path: string, call?: ApiCall) => Promise<Response>;

export interface RequestContext {
  /** As the client sent it, with the body; handlers see one without. */
  readonly request: Request;
  /** Canonical. */
  readonly url: URL;
  /** The client's `X-Request-Id`, or our own id. */
  readonly requestId: string;
  /** Unique. */
  readonly ownRequestId: string;
  /** As the client sent it; handlers see `GET` for `HEAD`. */
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
  /** True once the caller is known and the rate limit is checked; for a page's call of the API from the start. */
  isAdmitted: boolean;
  /** The request's part of its trace; null if it is not traced. */
  span: TraceSpan | null;
  /** The pattern that matched, such as `/api/v1/export/datasets`; null if none did. */
  route: string | null;
  /** False for an API call of a page that only reads. */
  mayWrite: boolean;
  /** Whether the route writes anything. */
  writes: boolean;
  /** `null` for anonymous callers. */
  caller: Caller | null;
  /** The caller's credential; `null` for anonymous callers. */
  sentCredential: SentCredential | null;
  /** The organization of the request; the caller is a member of it. */
  orgId: string | null;
  /** True if the credential is the session cookie, which browsers also add to requests from other sites' pages. */
  usesCookie: boolean;
  /** The `Idempotency-Key`, which writes claim. */
  idempotencyKey: IdempotencyKey | null;
  /** The body, valid for the route's schema; `{}` without one, and for GET. A page has its `form`: URLSearchParams. */
  body: JsonObject;
  error: ApiError | null;
  /** The limit that the request counted against. */
  rateLimit: RateLimit | null;
  /** Headers for the response, whether it succeeds or fails. */
  readonly responseHeaders: Record<string, string>;
  /** More fields for the log line: ids, counts and our own names, never values from the request. */
  readonly fields: Record<string, unknown>;
  /** Settles when the streamed body has ended; null for other bodies. */
  streamEnd: Promise<StreamEnd> | null;
  /** Calls the API for a page; `null` where the route is no page. */
  callApi: CallApi | null;
}

/** Request ids that clients may set with `X-Request-Id`. Others are replaced. */
export const ACCEPTED_REQUEST_ID = /^[A-Za-z0-9_.-]{1,128}$/;

/** Browsers send some 120 characters. */
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

/** Returns what a request, or an API call of a page, has not found out yet. */
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

/** Returns the context of an API call that a page makes: the page's caller, ids and time limit. */
export function callContext(page: RequestContext, request: Request, url: URL): RequestContext {
  // A file is never sent to a page, so the page's own connection keeps its timeout.
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

/** The context of a request that handlers see. */
export function requestContext(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("Cannot find the context: the request did not come through handle()");
  return context;
}

/** Returns true once the client has disconnected or has been sent a timeout. */
export function isRequestOver(request: Request): boolean {
  return request.signal.aborted || requestContext(request).error !== null;
}

/** Throws SERVICE_UNAVAILABLE if the request is over: no client is waiting for the response. */
export function requireWaiting(request: Request): void {
  if (isRequestOver(request)) throw new ApiError("SERVICE_UNAVAILABLE");
}

/**
 * Announces that the body of this response is streamed. The request is logged and measured when the returned function is
 * first called; later calls do nothing. Call this once the request can no longer be refused.
 */
export function announceStream(request: Request): (end: StreamEnd) => void {
  const { promise, resolve } = Promise.withResolvers<StreamEnd>();
  requestContext(request).streamEnd = promise;
  return resolve;
}
