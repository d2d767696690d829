/**
 * Lets pages of other origins read resources that need no credential: the catalog, public definitions and the OpenAPI document.
 * Requests with a credential and resources for operators are excluded.
 */
import type { RequestContext } from "../request_context.ts";
import type { Route } from "../route.ts";

const OPEN_ROUTES = /^\/(?:api\/v1|schemas)\/|^\/swagger\/json$/;
/** How long browsers may cache the response to a preflight request. Chromium's maximum is two hours. */
const PREFLIGHT_SECONDS = 86_400;

/** Returns true for a preflight request, by which a browser asks whether a page of another origin may read a resource. */
export function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && isRead(headers.get("access-control-request-method"));
}

/**
 * Lets pages of other origins read the response of a GET route, whatever its status, if the route is open to them. Returns the
 * response to a preflight request; null for other requests.
 */
export function admitOtherOrigins(context: RequestContext, route: Route): Response | null {
  const { headers, method } = context.request;
  if (!isPreflight(context.request) && !isRead(method)) return null;
  if (headers.has("authorization") || headers.has("cookie") || announcesCredential(headers)) return null;
  if (!isOpen(route)) return null;
  const { responseHeaders } = context;
  responseHeaders["Access-Control-Allow-Origin"] = "*";
  if (isRead(method)) {
    responseHeaders["Access-Control-Expose-Headers"] = "*";
    return null;
  }
  context.route = route.pattern;
  responseHeaders["Access-Control-Allow-Methods"] = "GET, HEAD";
  // In Chromium, `*` includes Authorization, which was rejected above.
  responseHeaders["Access-Control-Allow-Headers"] = "*";
  responseHeaders["Access-Control-Max-Age"] = String(PREFLIGHT_SECONDS);
  return new Response(null, { status: 204 });
}

function isRead(method: string | null): boolean {
  return method === "GET" || method === "HEAD";
}

function announcesCredential(headers: Headers): boolean {
  return /\bauthorization\b/i.test(headers.get("access-control-request-headers") ?? "");
}

function isOpen({ access, isPage, pattern }: Route): boolean {
  return access === "public" && !isPage && OPEN_ROUTES.test(pattern);
}
