/**
 * Pages of other origins may read what needs no credential: the catalog, public definitions, the OpenAPI document. They
 * never read with a credential, and never read resources for operators.
 */
import type { RequestContext } from "../request_context.ts";
import type { Route } from "../route.ts";

const OPEN_ROUTES = /^\/(?:api\/v1|schemas)\/|^\/swagger\/json$/;
/** Browsers keep the response to a preflight request for so long; Chromium for two hours at most. */
const PREFLIGHT_SECONDS = 86_400;

/** True for a preflight request: a browser asks whether a page of another origin may read a resource. */
export function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && isRead(headers.get("access-control-request-method"));
}

/**
 * Lets pages of other origins read the response of a GET route, whatever its status, if the route allows it. Returns the
 * response to a preflight request for it; null for other requests.
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
  // For Chromium, that includes Authorization, which was refused above.
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
