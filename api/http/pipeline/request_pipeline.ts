/**
 * Handles the steps that all routes share: ids, authentication, rate limit, headers, HEAD, the log line. It is a plain function
 * around the router, without hooks, so that no hook error, stream or unknown route bypasses it. Tests of `handle` get the same
 * responses as a socket. serve_route.ts serves the matched route.
 */
import { Elysia } from "elysia";
import { requestUrl } from "../../../shared/network/request_url.ts";
import type { Config } from "../../../shared/process/config.ts";
import type { Log } from "../../../shared/process/log.ts";
import { bytesIn } from "../bytes_response.ts";
import { respondError } from "../error_handler.ts";
import type { Metrics } from "../metrics.ts";
import { rateLimitHeaders } from "../rate_counter.ts";
import {
  bindContext,
  type ClientConnection,
  newContext,
  type RequestContext,
  requestContext,
} from "../request_context.ts";
import { createCompressResponse } from "../response/compress_response.ts";
import { addSecurityHeaders } from "../response/security_headers.ts";
import { canonicalPath, type Route } from "../route.ts";
import { invalidInput } from "../validation_problems.ts";
import type { AuditDenial } from "./audit_denial.ts";
import { createClaimResponse } from "./body_memory.ts";
import { createCallApi } from "./call_api.ts";
import { isPreflight } from "./cross_origin.ts";
import { createFinishRequest } from "./request_log.ts";
import { rejectUnknown, type ServeDeps, serveRoute } from "./serve_route.ts";

interface PipelineDeps {
  dispatch: Dispatch;
  auditDenial: AuditDenial;
  config: Config;
  log: Log;
  metrics: Metrics;
  /** Returns milliseconds since the epoch. */
  now: () => number;
  /** Turns error responses into pages for browsers. */
  toErrorPage: (response: Response, context: RequestContext, config: Config) => Promise<Response>;
  /** Aborted when the process begins to shut down. */
  shutdownSignal: AbortSignal;
}

/** Responds to a request from `address`, over `connection` if there is one. Never throws. */
export type Handle = (request: Request, address: string, connection?: ClientConnection) => Promise<Response>;

/** The connection of a request without a socket. Its response counts as sent at once. */
const NO_CONNECTION: ClientConnection = {
  isOpen: () => false,
  whenOver: async () => true,
  mayBeSilent: () => {},
  acknowledgedBytes: () => null,
  reset: () => {},
};

const UNKNOWN_URL = new URL("http://unknown");

export function createRequestPipeline(deps: PipelineDeps): Handle {
  const compressResponse = createCompressResponse();
  const claimResponse = createClaimResponse(deps.metrics);
  const finishRequest = createFinishRequest(deps);

  return async (request, address, connection = NO_CONNECTION) => {
    const url = canonicalUrl(request);
    const context = newContext(request, { url: url ?? UNKNOWN_URL, address, connection });
    let response: Response;
    try {
      if (!url) throw invalidInput([{ path: "", message: "the Host header must name one host" }]);
      response = await deps.dispatch(context);
      if (!context.streamEnd) {
        response = await compressResponse(context, response);
        claimResponse(context, bytesIn(response)?.length ?? 0);
      }
    } catch (error) {
      response = respondError(context, error);
    }
    await deps.auditDenial(context);
    addHeaders(response.headers, context, deps);
    if (context.error) response = await deps.toErrorPage(response, context, deps.config);
    addSecurityHeaders(response.headers, deps.config.publicUrl);
    if (request.method === "HEAD") response = await withoutBody(response, context);
    const { status } = response;
    if (context.streamEnd) void context.streamEnd.then((end) => finishRequest(context, status, end));
    else finishRequest(context, status);
    return response;
  };
}

function addHeaders(
  headers: Headers,
  { request, requestId, caller, rateLimit, responseHeaders }: RequestContext,
  { now, shutdownSignal }: PipelineDeps,
): void {
  headers.set("X-Request-Id", requestId);
  const limit = rateLimit && rateLimitHeaders(rateLimit, now());
  for (const [name, value] of Object.entries({ ...limit, ...responseHeaders })) headers.set(name, value);
  if ((caller || request.headers.has("authorization")) && !headers.has("cache-control")) {
    headers.set("Cache-Control", "no-store");
  }
  // An open connection would keep the process from exiting.
  if (shutdownSignal.aborted) headers.set("Connection", "close");
}

/** Returns the response to HEAD. Cancels a stream, and sets `Content-Length` for any other body. */
async function withoutBody(response: Response, context: RequestContext): Promise<Response> {
  const { headers, status } = response;
  if (context.streamEnd) {
    context.streamEnd = null;
    await response.body?.cancel();
    // The same as for GET. Bun would send `Content-Length: 0`, which is wrong for a stream.
    if (!headers.has("content-length")) headers.set("Transfer-Encoding", "chunked");
  } else {
    const bytes = bytesIn(response);
    if (bytes && !headers.has("content-length")) headers.set("Content-Length", String(bytes.length));
  }
  return new Response(null, { status, headers });
}

/** Returns the response to the request of a context. Errors become error responses. */
export type Dispatch = (context: RequestContext) => Promise<Response>;

/** Builds the router. Throws if two patterns of a method have different names for the same parameter. */
export function createRouter(
  options: Omit<ServeDeps, "createCallApi"> & { auditDenial: AuditDenial },
  routes: readonly Route[],
): Dispatch {
  // systemRouter: Bun's own router would match socket requests differently from `handle`.
  // standardHostname: with true, a short host name such as `http://db/` makes every path unknown.
  // strictPath: canonicalPath() has removed the one allowed trailing slash.
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
  const deps = {
    ...options,
    createCallApi: (page: RequestContext) => createCallApi({ ...options, dispatch }, page),
  };
  const reject = (context: RequestContext) =>
    rejectUnknown(deps, context, allowedMethods(context.url.pathname));
  for (const route of routes) {
    router.route(
      route.method,
      route.pattern,
      ({ request, params = {} }) => respond(request, serveRoute(deps, { route, request, params, reject })),
      { parse: "none" },
    );
  }
  router.all("/*", ({ request }) => respond(request, reject(requestContext(request))));
  return dispatch;
}

/** Turns errors into responses, so that Elysia never handles an error. */
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

/** Returns the canonical URL; null unless the `Host` header names one host (RFC 9112, 3.2). */
function canonicalUrl(request: Request): URL | null {
  const url = requestUrl(request);
  // Bun joins repeated headers with commas and uses the first host for the URL. A proxy in front may have used the last.
  if (!url || request.headers.get("host")?.includes(",")) return null;
  const path = canonicalPath(url.pathname);
  if (path !== url.pathname) url.pathname = path;
  // Browsers never send a fragment. Elysia would read it as part of the query.
  if (url.href.includes("#")) url.hash = "";
  return url;
}

/** Returns the request for routes, without the body. Its signal is aborted when the client disconnects. */
function toInner({ request, url }: RequestContext): Request {
  if (request.method === "GET" && request.url === url.href) return request;
  const headers = new Headers(request.headers);
  for (const name of ["content-length", "content-type", "transfer-encoding"]) headers.delete(name);
  const method = request.method === "HEAD" || isPreflight(request) ? "GET" : request.method;
  return new Request(url.href, { method, headers, signal: request.signal });
}
