/** Responses that carry the catalog's ETag, and 304 for clients that have them (RFC 9110, section 13). */
import { requestContext } from "../http/request_context.ts";
import { isKnownTag } from "../http/response/etag.ts";

/** Responds with JSON text under a strong ETag, or with 304. Caches may keep it and must revalidate it. */
export async function respondTagged(
  request: Request,
  etag: string,
  body: () => string | Promise<string>,
): Promise<Response> {
  const validators = { ETag: etag, "Cache-Control": cacheControl(request) };
  if (isKnownTag(request, etag)) return new Response(null, { status: 304, headers: validators });
  return new Response(await body(), { headers: { "Content-Type": "application/json", ...validators } });
}

/** Responds with JSON text under a strong ETag of that text, or with 304. */
export function respondText(request: Request, body: string): Promise<Response> {
  const digest = new Bun.CryptoHasher("sha256").update(body).digest("hex");
  return respondTagged(request, `"${digest.slice(0, 32)}"`, () => body);
}

/** A response to a credential must not be stored in a shared cache. */
export function cacheControl(request: Request): string {
  return requestContext(request).caller ? "private, no-cache" : "public, no-cache";
}
