/** What is known of a request while it is served: who, which route, and what its log line will say. */
import type { ApiError } from "../../shared/errors.ts";
import type { TraceSpan } from "../../shared/tracing/tracing.ts";
import type { IdempotencyKey } from "../../sql/accounts/idempotency_keys.ts";
import type { Caller } from "./caller.ts";
import { networkOf } from "./request_address.ts";
import type { JsonObject } from "./request_body.ts";
import { requestIdOf } from "./request_id.ts";
import type { CutReason } from "./response/stream_cutoff.ts";

/** The client's connection, as far as the response to this request needs it. */
export interface ClientConnection {
  /** False once the response was sent whole, or the connection was lost. */
  isOpen(): boolean;
  /** Breaks off the response within some seconds. */
  breakOff(): void;
}

/** How a streamed body ended: whole, given up by the client, ended by a rule of ours, or broken by a failure. */
export interface StreamEnd {
  outcome: "complete" | "aborted" | "cut" | "failed";
  /** Why it was cut. */
  reason?: CutReason;
  /** Bytes handed to the server, before any compression of the transport. */
  bytes: number;
  /** Why it failed. */
  error?: unknown;
}

export interface ApiCall {
  /** GET when left out. */
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Slug of the organization that the call is about. */
  org?: string | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** What the caller accepts, where the response depends on it. */
  accept?: string;
}

/** Calls a path under /api/v1 as the page's caller. Throws the ApiError that a client would get. */
export type CallApi = (path: string, call?: ApiCall) => Promise<Response>;

export interface RequestContext {
  /** What the response carries: the client's `X-Request-Id`, or else our own. */
  readonly requestId: string;
  /** No two requests have the same. */
  readonly ownRequestId: string;
  /** As the client sent it: `HEAD` here is a `GET` to the handlers. */
  readonly method: string;
  /** Address of the client, `unknown` where there is no connection. */
  readonly address: string;
  readonly connection: ClientConnection;
  /** Key for per-address rate limits: an IPv6 client counts as its /64. */
  readonly network: string;
  /** What the client says it is, cut to a length that can be kept; `null` when it says nothing. */
  readonly userAgent: string | null;
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number;
  /** The request's part of its trace; null if it is not traced. */
  span: TraceSpan | null;
  /** The pattern that matched, such as `/api/v1/export/datasets`; `null` when none did. */
  route: string | null;
  /** Whether the route writes anything. */
  writes: boolean;
  /** `null` for anonymous callers. */
  caller: Caller | null;
  /** The organization that the request turned out to be about, of which the caller is a member. */
  orgId: string | null;
  /** Whether the caller is known by the session cookie, which a browser also adds to what other sites' pages send. */
  usesCookie: boolean;
  /** The key of a request that may be repeated; writes claim it. */
  idempotencyKey: IdempotencyKey | null;
  /** The body, which fits the route's schema; `{}` without one, and of GET. */
  body: JsonObject;
  /** What the client was told went wrong. */
  error: ApiError | null;
  /** Headers that every response to this request carries, whatever becomes of it. */
  readonly responseHeaders: Record<string, string>;
  /** More fields for the request's log line: ids, counts and names of ours, never values from the request. */
  readonly fields: Record<string, unknown>;
  /** Settles when the streamed body has ended; `null` for bodies that are there at once. */
  streamEnd: Promise<StreamEnd> | null;
  /** Calls the API for a page; `null` where the route is no page. */
  callApi: CallApi | null;
}

/** Browsers send some 120 characters. */
const USER_AGENT_MAX_LENGTH = 300;

/** Returns the context of a request that has just arrived. */
export function newContext(request: Request, address: string, connection: ClientConnection): RequestContext {
  const ownRequestId = crypto.randomUUID();
  return {
    requestId: requestIdOf(request.headers, ownRequestId),
    ownRequestId,
    method: request.method,
    address,
    connection,
    network: networkOf(address),
    userAgent: request.headers.get("user-agent")?.slice(0, USER_AGENT_MAX_LENGTH) ?? null,
    startedAt: performance.now(),
    span: null,
    route: null,
    writes: false,
    caller: null,
    orgId: null,
    usesCookie: false,
    idempotencyKey: null,
    body: {},
    error: null,
    responseHeaders: {},
    fields: {},
    streamEnd: null,
    callApi: null,
  };
}

const contexts = new WeakMap<Request, RequestContext>();

/** Ties a context to the request that handlers will see. */
export function bindContext(request: Request, context: RequestContext): void {
  contexts.set(request, context);
}

/** The context of a request that handlers see. */
export function requestContext(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("Cannot find the context: the request did not come through handle()");
  return context;
}

/**
 * Tells that the body of this answer is streamed. The request is logged and measured when the function that comes
 * back is called: exactly once matters, later calls do nothing. Call this when nothing can be refused any more.
 */
export function announceStream(request: Request): (end: StreamEnd) => void {
  const { promise, resolve } = Promise.withResolvers<StreamEnd>();
  requestContext(request).streamEnd = promise;
  return resolve;
}
