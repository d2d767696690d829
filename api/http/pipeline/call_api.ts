/** Lets pages call our own API in the same process, with the same access rules, checks, errors and audit entries. */
import { ApiError } from "../../../shared/errors.ts";
import type { ErrorBody } from "../error_handler.ts";
import { type ApiCall, type CallApi, callContext, type RequestContext } from "../request_context.ts";
import { notFound } from "../require_visible.ts";
import { API_PREFIX, canonicalPath } from "../route.ts";
import type { AuditDenial } from "./audit_denial.ts";

/**
 * Creates the function that calls the API for one page request. A call shares the page's caller, ids and time limit. The page
 * request has passed the credential and rate limit checks. Only forms may write, because only their origin is checked.
 */
export function createCallApi(
  deps: { dispatch: (context: RequestContext) => Promise<Response>; auditDenial: AuditDenial },
  page: RequestContext,
): CallApi {
  return async (path, call = {}) => {
    const url = toUrl(path, page.url);
    const context = callContext(page, toRequest(url, call, page.request.signal), url);
    const response = await deps.dispatch(context);
    await deps.auditDenial(context);
    return readable(response, context);
  };
}

/** Returns the URL of a path. Throws NOT_FOUND for a name that is `..`, which `encodeURIComponent` does not escape. */
function toUrl(path: string, page: URL): URL {
  const url = new URL(API_PREFIX + path, page);
  if (url.pathname !== API_PREFIX + path.split("?", 1)[0]) throw notFound("route");
  url.pathname = canonicalPath(url.pathname);
  return url;
}

/** Returns the response, or throws the error that a client would get. For a file, only HEAD is allowed. */
async function readable(
  response: Response,
  { error, streamEnd, method, route }: RequestContext,
): Promise<Response> {
  if (error) throw error;
  if (response.status >= 400) throw await storedError(response);
  if (!streamEnd) return response;
  await response.body?.cancel();
  if (method !== "HEAD") throw new Error(`Cannot call ${route}: it sends a file`);
  return new Response(null, { status: response.status, headers: response.headers });
}

/** Returns the error in the stored response to a repeated form submission. */
async function storedError(response: Response): Promise<ApiError> {
  const { code, message, details } = ((await response.json()) as ErrorBody).error;
  return new ApiError(code, { message, ...(details && { details }) });
}

function toRequest(url: URL, call: ApiCall, signal: AbortSignal): Request {
  const { method = "GET", org, body, idempotencyKey } = call;
  const headers = new Headers();
  if (org !== undefined) headers.set("X-Org-Slug", org);
  if (idempotencyKey !== undefined) headers.set("Idempotency-Key", idempotencyKey);
  if (body === undefined) return new Request(url.href, { method, headers, signal });
  headers.set("Content-Type", "application/json");
  return new Request(url.href, { method, headers, signal, body: JSON.stringify(body) });
}
