/** Matches each request to its route, once, and serves it. */
import { Elysia } from "elysia";
import { requestUrl } from "../../../shared/network/request_url.ts";
import { canonicalPath } from "../canonical_path.ts";
import { respondError } from "../error_handler.ts";
import { bindContext, type RequestContext, requestContext } from "../request_context.ts";
import type { Route } from "../route.ts";
import { invalidInput } from "../validation_problems.ts";
import { type CallApiDeps, createCallApi } from "./call_api.ts";
import { isPreflight } from "./cross_origin.ts";
import { rejectUnknown, type ServeDeps, serveRoute } from "./serve_route.ts";

/** Responds to the request of a context, whatever happens. */
export type Dispatch = (context: RequestContext) => Promise<Response>;

/** Builds the router. Throws for two routes of one method and path. */
export function createRouter(deps: ServeDeps & CallApiDeps, routes: readonly Route[]): Dispatch {
  // systemRouter: with Bun's own router, requests over a socket match otherwise than in `handle`.
  // standardHostname: without, a short host name such as `http://db/` makes every path unknown.
  // strictPath: canonicalPath() has removed the one trailing slash that is allowed.
  const router = new Elysia({
    systemRouter: false,
    handler: { standardHostname: false },
    strictPath: true,
    normalize: false,
  });
  const dispatch: Dispatch = async (context) => {
    const request = toInner(context);
    bindContext(request, context);
    return router.handle(request);
  };
  const allowedMethods = createAllowedMethods(routes);
  const createCall = (page: RequestContext) => createCallApi({ ...deps, dispatch }, page);
  const reject = (context: RequestContext) =>
    rejectUnknown(deps, context, { allow: allowedMethods(context.url.pathname), createCallApi: createCall });
  for (const route of routes) {
    router.route(
      route.method,
      route.pattern,
      ({ request, params = {} }) =>
        respond(request, serveRoute(deps, { route, request, params, createCallApi: createCall, reject })),
      { parse: "none" },
    );
  }
  router.all("/*", ({ request }) => respond(request, reject(requestContext(request))));
  return dispatch;
}

/** Elysia never sees an error. */
async function respond(request: Request, response: Promise<Response>): Promise<Response> {
  try {
    return await response;
  } catch (error) {
    return respondError(requestContext(request), error);
  }
}

/** Returns a function that lists the methods of a path, for the `Allow` header. */
function createAllowedMethods(routes: readonly Route[]): (path: string) => string {
  const shapes = routes.map(({ method, pattern }) => {
    const escaped = pattern.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/]+").replace(/\*$/, ".*");
    return { method, shape: new RegExp(`^${escaped}$`) };
  });
  return (path) => {
    const found = new Set(shapes.filter(({ shape }) => shape.test(path)).map(({ method }) => method));
    return ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
      .filter((method) => found.has(method === "HEAD" ? "GET" : method))
      .join(", ");
  };
}

/** Returns the canonical URL. Throws for a `Host` header that is not one host (RFC 9112, 3.2). */
export function canonicalUrl(request: Request): URL {
  const url = requestUrl(request);
  // Bun joins several headers with commas, and takes the first for the URL; a proxy in front may have taken the last.
  if (!url || request.headers.get("host")?.includes(","))
    throw invalidInput([{ path: "", message: "the Host header must name one host" }]);
  url.pathname = canonicalPath(url.pathname);
  // Browsers never send a fragment; Elysia would read it as part of the query.
  url.hash = "";
  return url;
}

/** Returns the request that routes see: without the body. Its signal is aborted when the client disconnects. */
function toInner({ request, url }: RequestContext): Request {
  if (request.method === "GET" && request.url === url.href) return request;
  const headers = new Headers(request.headers);
  for (const name of ["content-length", "content-type", "transfer-encoding"]) headers.delete(name);
  const method = request.method === "HEAD" || isPreflight(request) ? "GET" : request.method;
  return new Request(url.href, { method, headers, signal: request.signal });
}
