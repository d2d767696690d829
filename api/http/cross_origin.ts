/**
 * Pages of other origins may read what needs no credential: the catalog, public definitions, the OpenAPI document. They
 * never read with one, and never what is for operators.
 */
import type { RequestContext } from "./request_context.ts";
import type { Route, RouteTable } from "./route_table.ts";

const OPEN_ROUTES = /^\/(?:api\/v1|schemas)\/|^\/swagger\/json$/;
/** Browsers keep the response to a preflight request for so long; Chromium for two hours at most. */
const PREFLIGHT_SECONDS = 86_400;

/**
 * Lets pages of other origins read the response, whatever its status, if it may be read so. Returns the response to a
 * preflight request for it; null for other requests.
 */
export function admitOtherOrigins(
  { method, headers }: Request,
  { path, routeTable, context }: { path: string; routeTable: RouteTable; context: RequestContext },
): Response | null {
  const isPreflight = method === "OPTIONS" && isRead(headers.get("access-control-request-method"));
  if (!isPreflight && !isRead(method)) return null;
  if (headers.has("authorization") || headers.has("cookie") || announcesCredential(headers)) return null;
  const match = routeTable("GET", path);
  if (!match.found || !isOpen(match.route)) return null;
  const { responseHeaders } = context;
  responseHeaders["Access-Control-Allow-Origin"] = "*";
  if (!isPreflight) {
    responseHeaders["Access-Control-Expose-Headers"] = "*";
    return null;
  }
  context.route = match.route.pattern;
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

function isOpen({ access, maxFormBytes, pattern }: Route): boolean {
  return access === "public" && maxFormBytes === null && OPEN_ROUTES.test(pattern);
}
