/** Serves a request whose caller is known: route, access, origin, body, repeated requests, Elysia, time limit. */
import { ApiError } from "../../shared/errors.ts";
import { isSession, mayWrite } from "../../shared/policy.ts";
import { DeadlineExceeded, withTimeout } from "../../shared/process/with_timeout.ts";
import { unauthorized } from "./authenticate.ts";
import { readForm } from "./body/form_body.ts";
import { type JsonObject, maxBodyBytes } from "./body/request_body.ts";
import { readBody } from "./body/yaml_body.ts";
import { isFilePath } from "./download_paths.ts";
import { OUTCOME_UNKNOWN, unavailable } from "./error_handler.ts";
import type { RespondOnce } from "./idempotency.ts";
import { bindContext, type RequestContext } from "./request_context.ts";
import type { IsOwnPage } from "./request_origin.ts";
import { requireAllowed } from "./require_allowed.ts";
import type { Route, RouteMatch } from "./route_table.ts";
import { invalidInput } from "./validation_problems.ts";

/** Maximum for requests that mostly wait for the database. After that, a connection is dead or a queue is stuck. */
const RESPONSE_TIMEOUT_MS = 30_000;

export interface ServeRouteDeps {
  isOwnPage: IsOwnPage;
  /** Elysia: called with a request whose path is canonical and whose method is never HEAD. */
  dispatch: (request: Request) => Promise<Response>;
  respondOnce: RespondOnce;
}

/** Returns the milliseconds left until the request times out. */
export function remainingMs({ startedAt }: RequestContext): number {
  return RESPONSE_TIMEOUT_MS - (performance.now() - startedAt);
}

/**
 * Serves a request whose caller is known. `url` is canonical. The order of errors: route, access, origin, body; Elysia
 * validates the path after them.
 */
export async function serveRoute(
  deps: ServeRouteDeps,
  request: Request,
  { url, match, context }: { url: URL; match: RouteMatch; context: RequestContext },
): Promise<Response> {
  const route = routeOf(match);
  context.route = route.pattern;
  context.writes = route.writes;
  requireAccess(route, context);
  rejectOtherSites(deps, request, context, route);
  rejectBadEncoding(url);
  if (request.method !== "GET" && request.method !== "HEAD") {
    context.body = await arrived(readAnyBody(request, url, route), remainingMs(context));
  }
  const respond = async (): Promise<Response> => {
    route.checkBody?.(context.body);
    const inner = toInner(request, url.href);
    bindContext(inner, context);
    const response = deps.dispatch(inner);
    return isFilePath(url.pathname) ? response : inTime(response, route, remainingMs(context));
  };
  return deps.respondOnce({ request, url, route, context }, respond);
}

function readAnyBody(request: Request, url: URL, route: Route): Promise<JsonObject> {
  if (route.maxFormBytes !== null) return readForm(request, route.maxFormBytes);
  const maxBytes = maxBodyBytes(url.pathname);
  return readBody(request, { maxBytes, yamlQuery: route.yamlQuery, given: url.searchParams });
}

/** Ends the connection with the error, because the rest of the body may still come. */
async function arrived(body: Promise<JsonObject>, timeoutMs: number): Promise<JsonObject> {
  try {
    return await withTimeout(body, timeoutMs);
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    throw new ApiError("REQUEST_TIMEOUT", { headers: { Connection: "close" } });
  }
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

/**
 * A cookie identifies the browser's user, not the page that sends the request, so it can write only from our own pages.
 * The same holds for anonymous forms: another site could sign its visitors in to its own account.
 */
function rejectOtherSites(deps: ServeRouteDeps, request: Request, context: RequestContext, route: Route) {
  const isForm = route.maxFormBytes !== null;
  if (route.writes && (context.usesCookie || isForm) && !deps.isOwnPage(request)) {
    throw new ApiError("FORBIDDEN_ORIGIN");
  }
}

/**
 * Elysia passes on text that it could not decode, and PostgreSQL stores no NUL in text. No resource has such a name.
 */
function rejectBadEncoding({ pathname, search }: URL): void {
  try {
    if (!decodeURIComponent(pathname + search).includes("\0")) return;
  } catch {
    // Rejected below, like NUL.
  }
  throw invalidInput([{ path: "", message: "the URL must be percent-encoded UTF-8 without NUL" }]);
}

/**
 * Returns the request that routes see: without the body, which is in the context. Its signal is aborted when the client
 * disconnects.
 */
function toInner(request: Request, href: string): Request {
  if (request.method === "GET" && request.url === href) return request;
  const headers = new Headers(request.headers);
  for (const name of ["content-length", "content-type", "transfer-encoding"]) headers.delete(name);
  const method = request.method === "HEAD" ? "GET" : request.method;
  return new Request(href, { method, headers, signal: request.signal });
}
