/** Serves a request that has been matched to its route: caller, access, origin, body, repeated requests, time limit. */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { isSession, mayWrite } from "../../../shared/policy.ts";
import type { Config } from "../../../shared/process/config.ts";
import { DeadlineExceeded, withTimeout } from "../../../shared/process/with_timeout.ts";
import type { Tracing } from "../../../shared/tracing/tracing.ts";
import { unauthorized } from "../authenticate.ts";
import { readBody, readForm } from "../body/request_body.ts";
import { unavailable } from "../error_handler.ts";
import { type CallApi, type RequestContext, requestContext } from "../request_context.ts";
import { requireAllowed } from "../require_allowed.ts";
import { notFound } from "../require_visible.ts";
import { API_PREFIX, type JsonObject, type Route } from "../route.ts";
import { invalidInput } from "../validation_problems.ts";
import type { createClaimRequestBody } from "./body_memory.ts";
import { admitOtherOrigins, isPreflight } from "./cross_origin.ts";
import type { RespondOnce } from "./idempotency.ts";
import type { RateLimits } from "./rate_limits.ts";
import { startRequestSpan } from "./request_span.ts";

/** Time limit of a request, which mostly waits for the database. After this time, a connection is dead or a queue is stuck. */
const RESPONSE_TIMEOUT_MS = 30_000;
/** The credential is checked again after a slower body. This time and a cached credential's maximum age add up to a second. */
const CONFIRM_AFTER_MS = 100;

export interface ServeDeps extends RateLimits {
  /** Returns true if a browser requests a page's address, where errors are shown as pages. */
  isForPeople: (request: Request) => boolean;
  config: Pick<Config, "publicUrl">;
  respondOnce: RespondOnce;
  claimRequestBody: ReturnType<typeof createClaimRequestBody>;
  /** Null if tracing is off. */
  tracing: Tracing | null;
  /** Creates the function by which a page calls the API. */
  createCallApi: (page: RequestContext) => CallApi;
}

interface Matched {
  route: Route;
  /** The request without its body. The method is GET for HEAD and for a preflight request. */
  request: Request;
  params: Readonly<Record<string, string>>;
  /** Throws the error for a method that the path does not allow. */
  reject: (context: RequestContext) => Promise<never>;
}

/**
 * Serves a request. Checks the credential and rate limit, access, origin, encoding and body, in this order. Routes check the
 * rest.
 */
export async function serveRoute(
  deps: ServeDeps,
  { route, request, params, reject }: Matched,
): Promise<Response> {
  const context = requestContext(request);
  const preflight = context.isAdmitted ? null : admitOtherOrigins(context, route);
  if (preflight) return preflight;
  if (isPreflight(context.request)) return reject(context);
  await admit(deps, context, route);
  const admittedAt = performance.now();
  context.route = route.pattern;
  context.writes = route.writes;
  if (route.writes && !context.mayWrite) {
    throw new Error(`Cannot call ${route.method} ${route.pattern}: the page's request only reads`);
  }
  if (route.isPage) context.callApi = deps.createCallApi(context);
  requireAccess(route, context);
  rejectOtherSites(deps, context, route);
  rejectBadEncoding(context.url);
  if (context.method !== "GET" && context.method !== "HEAD") {
    context.body = await arrived(readAnyBody(deps, context, route), remainingMs(context));
    if (performance.now() - admittedAt > CONFIRM_AFTER_MS) await confirm(deps, context, route);
  }
  return deps.respondOnce(context, route, async () => {
    route.checkBody?.(context.body);
    if (route.download) {
      context.connection.mayBeSilent();
      // Without an idle timeout, a connection that a vanished client keeps would stay open forever.
      context.responseHeaders["Connection"] = "close";
      return route.respond(request, params);
    }
    return inTime(route.respond(request, params), route, remainingMs(context));
  });
}

/**
 * Rejects a request that matches no route. `allow` lists the methods of its path, separated by commas. Like all pages, the page
 * of an unknown address shows the signed-in user.
 */
export async function rejectUnknown(deps: ServeDeps, context: RequestContext, allow: string): Promise<never> {
  await admit(deps, context, null);
  if (deps.isForPeople(context.request)) context.callApi = deps.createCallApi(context);
  if (!allow) throw notFound("route");
  const message = TEXTS.METHOD_NOT_ALLOWED(allow);
  throw new ApiError("METHOD_NOT_ALLOWED", { message, headers: { Allow: allow } });
}

/** Authenticates the caller and applies the rate limits. */
async function admit(deps: ServeDeps, context: RequestContext, route: Route | null): Promise<void> {
  if (context.isAdmitted) return;
  const { request, url } = context;
  const matched: Partial<Route> = route ?? {};
  const { pattern = null, isPage = deps.isForPeople(request), ignoresCookie = false, unlimited } = matched;
  // Health checks and metrics are polled, so their spans would outnumber all others.
  if (deps.tracing && !unlimited) startRequestSpan(deps.tracing, { request, context, route: pattern });
  if (`${url.pathname}/`.startsWith(`${API_PREFIX}/`)) {
    await withTimeout(deps.admitCaller(context, { ignoresCookie }), remainingMs(context));
  } else if (isPage && !ignoresCookie) {
    await withTimeout(deps.admitVisitor(context), remainingMs(context));
  } else if (!unlimited) deps.admitAddress(context);
  context.isAdmitted = true;
}

/**
 * Rejects a credential that ended before the body arrived. Otherwise, a client could keep requests open and write after its
 * session has ended. A page then has no caller, as with any cookie without a session.
 */
async function confirm(deps: ServeDeps, context: RequestContext, route: Route): Promise<void> {
  try {
    await withTimeout(deps.confirmCaller(context), remainingMs(context));
  } catch (error) {
    if (!route.isPage || !(error instanceof ApiError) || error.code !== "UNAUTHORIZED") throw error;
    context.usesCookie = false;
  }
  requireAccess(route, context);
}

/** Returns the milliseconds left until the request times out. */
function remainingMs({ startedAt }: RequestContext): number {
  return RESPONSE_TIMEOUT_MS - (performance.now() - startedAt);
}

async function readAnyBody(deps: ServeDeps, context: RequestContext, route: Route): Promise<JsonObject> {
  const { request, url } = context;
  const { isPage, maxBodyBytes: maxBytes, yamlQuery } = route;
  const limits = { maxBytes, claim: (bytes: number) => deps.claimRequestBody(context, bytes) };
  if (isPage) return { form: await readForm(request, limits) };
  return readBody(request, { limits, yamlQuery, given: url.searchParams });
}

/** Waits for the body. After a timeout, closes the connection, because the rest of the body may still arrive. */
async function arrived(body: Promise<JsonObject>, timeoutMs: number): Promise<JsonObject> {
  try {
    return await withTimeout(body, timeoutMs);
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    throw new ApiError("REQUEST_TIMEOUT", { headers: { Connection: "close" } });
  }
}

/** Waits for the response. A timeout does not undo a write, which can still commit. */
async function inTime(answer: Promise<Response>, route: Route, timeoutMs: number): Promise<Response> {
  try {
    return await withTimeout(answer, timeoutMs);
  } catch (error) {
    if (!route.writes || !(error instanceof DeadlineExceeded)) throw error;
    throw unavailable(error, TEXTS.SERVICE_UNAVAILABLE.outcomeUnknown);
  }
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
 * Rejects writes from pages of other sites. The session cookie identifies the browser's user, not the page that sends the
 * request. Anonymous forms and writes that ignore the cookie are rejected too, because another site could sign its visitors in
 * to its own account.
 */
function rejectOtherSites(deps: ServeDeps, context: RequestContext, route: Route): void {
  const isForm = route.isPage;
  const isPages = context.usesCookie || isForm || (route.ignoresCookie && comesFromPage(context.request));
  if (route.writes && isPages && !isOwnPage(context.request, deps.config.publicUrl)) {
    throw new ApiError("FORBIDDEN_ORIGIN");
  }
}

/**
 * Returns true if the request is from a page of this service, by headers that scripts cannot change. Each of `Origin` and
 * `Sec-Fetch-Site` must be ours if it is sent, and at least one must be sent. Our origin is that of PUBLIC_URL. If PUBLIC_URL
 * is plain http, the origin of the `Host` header is accepted too. With https, that would admit pages that the same host serves
 * without TLS.
 */
function isOwnPage({ headers, url }: Request, publicUrl: string): boolean {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  if (origin === null && site === null) return false;
  const isPlain = publicUrl.startsWith("http:");
  const isOwnOrigin =
    origin === null ||
    origin === URL.parse(publicUrl)?.origin ||
    (isPlain && origin === URL.parse(url)?.origin);
  return isOwnOrigin && (site === null || site === "same-origin");
}

/** Returns true if the headers show that a page sends the request. Programs other than browsers do not send these headers. */
function comesFromPage({ headers }: Request): boolean {
  return headers.has("origin") || headers.has("sec-fetch-site");
}

/** Rejects invalid encoding, which Elysia would pass on, and NUL, which PostgreSQL cannot store in text. */
function rejectBadEncoding({ pathname, search }: URL): void {
  const written = pathname + search;
  // The URL parser has encoded NUL and all non-ASCII characters.
  if (!written.includes("%")) return;
  try {
    if (!decodeURIComponent(written).includes("\0")) return;
  } catch {
    // Rejected below, like NUL.
  }
  throw invalidInput([{ path: "", message: "the URL must be percent-encoded UTF-8 without NUL" }]);
}
