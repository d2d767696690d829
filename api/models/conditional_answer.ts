/** Answers that carry the catalogue's ETag, and 304 for whoever has them already (RFC 9110, section 13). */
import { requestContext } from "../request_context.ts";

const JSON_TYPE = "application/json";

export interface TaggedBody {
  /** Strong. */
  etag: string;
  contentType?: string;
  headers?: Readonly<Record<string, string>>;
}

/** Whether the client has what `etag` names: If-None-Match compares weakly. */
function isKnown(request: Request, etag: string): boolean {
  const given = request.headers.get("if-none-match");
  if (given === null) return false;
  if (given.trim() === "*") return true;
  return given.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

/** 304, or what `body` makes. A cache may keep it and has to ask whether it still holds. */
export async function answerTagged(
  request: Request,
  { etag, contentType = JSON_TYPE, headers = {} }: TaggedBody,
  body: () => string | Promise<string>,
): Promise<Response> {
  // An answer to a credential is for whoever holds it alone (contract section 2).
  const cacheControl = requestContext(request).caller ? "private, no-cache" : "public, no-cache";
  const always = { ETag: etag, "Cache-Control": cacheControl };
  if (isKnown(request, etag)) return new Response(null, { status: 304, headers: always });
  return new Response(await body(), { headers: { "Content-Type": contentType, ...headers, ...always } });
}
