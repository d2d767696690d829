/**
 * Everything that every request needs around its route: ids, authentication, rate limit, headers, HEAD, the log line.
 * It is a plain function around the router and no hooks, so that nothing bypasses it (an error in a hook, a stream, an
 * unknown route), and tests of `handle` see what a socket gets. The router matches a request once; serve_route.ts serves it.
 */
import { Elysia } from "elysia";
import { requestUrl } from "../../../shared/network/request_url.ts";
import type { Config } from "../../../shared/process/config.ts";
import { canonicalPath } from "../canonical_path.ts";
import { respondError } from "../error_handler.ts";
import {
  bindContext,
  type ClientConnection,
  newContext,
  type RequestContext,
  requestContext,
} from "../request_context.ts";
import type { createCompressResponse } from "../response/compress_response.ts";
import { addSecurityHeaders } from "../response/security_headers.ts";
import type { Route } from "../route.ts";
import { invalidInput } from "../validation_problems.ts";
import type { AuditDenial } from "./audit_denial.ts";
import type { createClaimResponse } from "./body_memory.ts";
import { type CallApiDeps, createCallApi } from "./call_api.ts";
import { isPreflight } from "./cross_origin.ts";
import type { createFinishRequest } from "./request_log.ts";
import { rejectUnknown, type ServeDeps, serveRoute } from "./serve_route.ts";

interface PipelineDeps {
  dispatch: Dispatch;
  auditDenial: AuditDenial;
  config: Pick<Config, "publicUrl">;
  /** Compresses bodies that are not streams. */
  compressResponse: ReturnType<typeof createCompressResponse>;
  claimResponse: ReturnType<typeof createClaimResponse>;
  /** Turns errors into pages for browsers. */
  toErrorPage: (
    response: Response,
    context: RequestContext,
    config: Pick<Config, "publicUrl">,
  ) => Promise<Response>;
  finishRequest: ReturnType<typeof createFinishRequest>;
  /** Aborted when the process begins to shut down. */
  shutdownSignal: AbortSignal;
}

/** Responds to a request from `address`, over `connection` if there is one. Never throws. */
export type Handle = (request: Request, address: string, connection?: ClientConnection) => Promise<Response>;

/** For requests without a socket: a response counts as sent at once. */
const NO_CONNECTION: ClientConnection = {
  isOpen: () => false,
  whenOver: async () => true,
  mayBeSilent: () => {},
  acknowledgedBytes: () => null,
  reset: () => {},
};

export function createRequestPipeline(deps: PipelineDeps): Handle {
  return async (request, address, connection = NO_CONNECTION) => {
    const context = newContext(request, address, connection);
    let response: Response;
    try {
      context.url = canonicalUrl(request);
      response = await deps.dispatch(context);
      if (!context.streamEnd) {
        const encoded = await deps.compressResponse(request, response);
        deps.claimResponse(context, encoded.bytes);
        response = encoded.response;
      }
    } catch (error) {
      response = respondError(context, error);
    }
    await deps.auditDenial(context);
    addHeaders(response.headers, request, context, deps.shutdownSignal);
    if (context.error) response = await deps.toErrorPage(response, context, deps.config);
    addSecurityHeaders(response.headers, deps.config.publicUrl);
    if (request.method === "HEAD") response = await withoutBody(response, context);
    const { status } = response;
    if (context.streamEnd) void context.streamEnd.then((end) => deps.finishRequest(context, status, end));
    else deps.finishRequest(context, status);
    return response;
  };
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
  // An open connection would keep the process from exiting.
  if (shutdownSignal.aborted) headers.set("Connection", "close");
}

/** Returns the response to HEAD: cancels a stream, measures any other body. */
async function withoutBody(response: Response, context: RequestContext): Promise<Response> {
  const { headers, status } = response;
  if (context.streamEnd) {
    context.streamEnd = null;
    await response.body?.cancel();
    // As for GET. Bun would send `Content-Length: 0`, which is wrong for a stream.
    if (!headers.has("content-length")) headers.set("Transfer-Encoding", "chunked");
  } else if (response.body && !headers.has("content-length")) {
    headers.set("Content-Length", String((await response.arrayBuffer()).byteLength));
  }
  return new Response(null, { status, headers });
}

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
function canonicalUrl(request: Request): URL {
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
