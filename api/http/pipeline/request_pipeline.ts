/**
 * Everything that every request needs around its route: ids, authentication, rate limit, headers, HEAD, the log line.
 * It is a plain function around the router and no hooks, so that nothing bypasses it (an error in a hook, a stream, an
 * unknown route), and tests of `handle` see what a socket gets.
 */

import type { Config } from "../../../shared/process/config.ts";
import { respondError } from "../error_handler.ts";
import { type ClientConnection, newContext, type RequestContext } from "../request_context.ts";
import type { createCompressResponse } from "../response/compress_response.ts";
import type { createClaimResponse } from "../response/response_memory.ts";
import { addSecurityHeaders } from "../response/security_headers.ts";
import type { AuditDenial } from "./audit_denial.ts";
import type { createFinishRequest } from "./request_log.ts";
import { canonicalUrl, type Dispatch } from "./router.ts";

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
