/**
 * Everything that is the same for every request, around the routes: ids, who may pass, the body's checks, headers,
 * HEAD, the log line. It is a plain function around Elysia rather than hooks in it, so that nothing (an error in a
 * hook, a stream, a route that does not exist) gets past it, and so that `handle` in a test is what a socket gets.
 */
import { ApiError } from "../../shared/errors.ts";
import { isSession, mayWrite } from "../../shared/policy.ts";
import { DeadlineExceeded, withTimeout } from "../../shared/process/with_timeout.ts";
import type { Tracing } from "../../shared/tracing/tracing.ts";
import type { AuditRefusal } from "./audit_refusal.ts";
import { unauthorized } from "./authenticate.ts";
import { isFilePath } from "./download_paths.ts";
import { OUTCOME_UNKNOWN, respondError, unavailable } from "./error_handler.ts";
import type { RespondOnce } from "./idempotency.ts";
import { networkOf } from "./request_address.ts";
import type { Admission } from "./request_admission.ts";
import { maxBodyBytes } from "./request_body.ts";
import { bindContext, type ClientConnection, type RequestContext } from "./request_context.ts";
import { requestIdOf } from "./request_id.ts";
import type { FinishRequest } from "./request_log.ts";
import type { IsOwnPage } from "./request_origin.ts";
import { startRequestSpan } from "./request_span.ts";
import { requireAllowed } from "./require_allowed.ts";
import type { ClaimResponse } from "./response/budget.ts";
import type { EncodeResponse } from "./response/encoder.ts";
import type { AddSecurityHeaders } from "./response/security_headers.ts";
import { canonicalPath, type Route, type RouteMatch, type RouteTable } from "./route_table.ts";
import { invalidInput } from "./validation_problems.ts";
import { readBody } from "./yaml_body.ts";

const API_PREFIX = "/api/v1";
/** Of what needs the database and little else. Longer, and a connection is dead or a queue does not move. */
const ANSWER_TIMEOUT_MS = 30_000;

/** Browsers send some 120 characters. */
const USER_AGENT_MAX_LENGTH = 300;

export interface FrameDeps extends Admission {
  addSecurityHeaders: AddSecurityHeaders;
  isOwnPage: IsOwnPage;
  routeTable: RouteTable;
  /** Elysia: called with a request whose path is canonical and whose method is never HEAD. */
  dispatch: (request: Request) => Promise<Response>;
  /** Compresses what is no stream. */
  encodeResponse: EncodeResponse;
  claimResponse: ClaimResponse;
  auditRefusal: AuditRefusal;
  respondOnce: RespondOnce;
  /** Turns errors into pages for browsers. */
  toErrorPage: (request: Request, response: Response) => Response;
  finishRequest: FinishRequest;
  /** Null if tracing is off. */
  tracing: Tracing | null;
  /** Aborted when the process is about to stop. */
  shutdownSignal: AbortSignal;
}

/** Answers a request from `address`, over `connection` where there is one. Never throws. */
export type Handle = (request: Request, address: string, connection?: ClientConnection) => Promise<Response>;

/** Of a request that came over no socket: whatever is answered has been taken. */
const NO_CONNECTION: ClientConnection = { isOpen: () => false, breakOff: () => {} };

export function createHandle(deps: FrameDeps): Handle {
  return async (request, address, connection = NO_CONNECTION) => {
    const context = newContext(request, address, connection);
    let response: Response;
    try {
      response = await serve(deps, request, context);
      if (!context.streamEnd) response = await encodeAndClaim(deps, request, { response, context });
    } catch (error) {
      response = respondError(context, error);
    }
    await deps.auditRefusal(context);
    addHeaders(response.headers, request, context, deps.shutdownSignal);
    if (context.error) response = deps.toErrorPage(request, response);
    deps.addSecurityHeaders(response.headers);
    if (request.method === "HEAD") response = await withoutBody(response, context);
    const { status } = response;
    if (context.streamEnd) void context.streamEnd.then((end) => deps.finishRequest(context, status, end));
    else deps.finishRequest(context, status);
    return response;
  };
}

async function encodeAndClaim(
  deps: FrameDeps,
  request: Request,
  { response, context }: { response: Response; context: RequestContext },
): Promise<Response> {
  const encoded = await deps.encodeResponse(request, response);
  deps.claimResponse(context, encoded.bytes);
  return encoded.response;
}

function newContext(request: Request, address: string, connection: ClientConnection): RequestContext {
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
  };
}

/** The order of refusals: credential and rate limit, route, access, scope, body. Elysia validates the path after them. */
async function serve(deps: FrameDeps, request: Request, context: RequestContext): Promise<Response> {
  const url = canonicalUrl(request);
  const match = deps.routeTable(request.method, url.pathname);
  // Health and metrics are polled: their spans would outnumber all others.
  if (deps.tracing && !(match.found && match.route.isNotCounted)) {
    startRequestSpan(deps.tracing, { request, context, route: match.found ? match.route.pattern : null });
  }
  let remainingMs = ANSWER_TIMEOUT_MS;
  if (`${url.pathname}/`.startsWith(`${API_PREFIX}/`)) {
    const looksPastCookie = match.found && match.route.looksPastCookie;
    await withTimeout(deps.admitCaller(request.headers, context, { looksPastCookie }), remainingMs);
    remainingMs -= performance.now() - context.startedAt;
  } else if (!match.found || !match.route.isNotCounted) deps.admitAddress(context);
  const route = routeOf(match);
  context.route = route.pattern;
  context.writes = route.writes;
  requireAccess(route, context);
  rejectOtherSites(deps, request, context, route);
  rejectBadEncoding(url);
  if (request.method !== "GET" && request.method !== "HEAD") {
    context.body = await readBody(request, {
      maxBytes: maxBodyBytes(url.pathname),
      yamlQuery: route.yamlQuery,
      given: url.searchParams,
    });
  }
  const respond = async (): Promise<Response> => {
    route.checkBody?.(context.body);
    const inner = toInner(request, url.href);
    bindContext(inner, context);
    const response = deps.dispatch(inner);
    return isFilePath(url.pathname) ? response : inTime(response, route, remainingMs);
  };
  return deps.respondOnce({ request, url, route, context }, respond);
}

/** A timeout does not undo a write: it may still commit. */
async function inTime(answer: Promise<Response>, route: Route, timeoutMs: number): Promise<Response> {
  try {
    return await withTimeout(answer, timeoutMs);
  } catch (error) {
    if (!route.writes || !(error instanceof DeadlineExceeded)) throw error;
    throw unavailable(error, OUTCOME_UNKNOWN);
  }
}

/** One URL for all the ways to spell a resource. Throws for a `Host` header that is not one host (RFC 9112, 3.2). */
function canonicalUrl(request: Request): URL {
  const url = URL.parse(request.url);
  // Bun joins several headers with commas, and takes the first for the URL; a proxy in front may have taken the last.
  if (!url || request.headers.get("host")?.includes(","))
    throw invalidInput([{ path: "", message: "the Host header must name one host" }]);
  url.pathname = canonicalPath(url.pathname);
  // Only a client that does not know better sends one; Elysia would take it for a part of the query.
  url.hash = "";
  return url;
}

function routeOf(match: RouteMatch): Route {
  if (match.found) return match.route;
  if (!match.allow) throw new ApiError("NOT_FOUND", { details: { reason: "route" } });
  throw new ApiError("METHOD_NOT_ALLOWED", {
    message: `Method not allowed. This path accepts ${match.allow}.`,
    headers: { Allow: match.allow },
  });
}

function requireAccess(route: Route, context: RequestContext): void {
  const { caller } = context;
  if (!caller) {
    if (route.access === "public") return;
    throw unauthorized();
  }
  if (route.access === "session") requireAllowed(isSession(caller.credential));
  if (route.writes) requireAllowed(mayWrite(caller.credential));
}

/** A cookie says who is using the browser, not who made the page that asks: it reads, and writes for our own pages. */
function rejectOtherSites(deps: FrameDeps, request: Request, context: RequestContext, route: Route): void {
  if (context.usesCookie && route.writes && !deps.isOwnPage(request)) throw new ApiError("FORBIDDEN_ORIGIN");
}

/** Elysia hands on half-decoded text, and PostgreSQL stores no NUL in text: no resource is named by either. */
function rejectBadEncoding({ pathname, search }: URL): void {
  try {
    if (!decodeURIComponent(pathname + search).includes("\0")) return;
  } catch {
    // Told below, as for NUL.
  }
  throw invalidInput([{ path: "", message: "the URL must be percent-encoded UTF-8 without NUL" }]);
}

/** The request as the routes see it: its body is in the context. Handlers see the client leave through its signal. */
function toInner(request: Request, href: string): Request {
  if (request.method === "GET" && request.url === href) return request;
  const headers = new Headers(request.headers);
  for (const name of ["content-length", "content-type", "transfer-encoding"]) headers.delete(name);
  const method = request.method === "HEAD" ? "GET" : request.method;
  return new Request(href, { method, headers, signal: request.signal });
}

function addHeaders(
  headers: Headers,
  request: Request,
  context: RequestContext,
  shutdownSignal: AbortSignal,
): void {
  headers.set("X-Request-Id", context.requestId);
  for (const [name, value] of Object.entries(context.responseHeaders)) headers.set(name, value);
  if ((context.caller || request.headers.has("authorization")) && !headers.has("cache-control")) {
    headers.set("Cache-Control", "no-store");
  }
  // A client that keeps its connection would otherwise keep the process.
  if (shutdownSignal.aborted) headers.set("Connection", "close");
}

/** The response to HEAD: a stream is given up before it flows, any other body is measured. */
async function withoutBody(response: Response, context: RequestContext): Promise<Response> {
  const { headers, status } = response;
  if (context.streamEnd) {
    context.streamEnd = null;
    await response.body?.cancel();
    // As GET says it. Bun would say `Content-Length: 0`, which is not true of the stream.
    if (!headers.has("content-length")) headers.set("Transfer-Encoding", "chunked");
  } else if (response.body && !headers.has("content-length")) {
    headers.set("Content-Length", String((await response.arrayBuffer()).byteLength));
  }
  return new Response(null, { status, headers });
}
