/** JSON that clients may keep: a strong ETag that stands for its bytes, and 304 for those who have them (RFC 9110). */
import { createHash } from "node:crypto";
import { isKnownTag } from "./etag.ts";

/**
 * The response to a read: 304 without a body when the client has this very text. Clients may store it but must revalidate it. Shared caches must not store what depends on the caller.
 */
export function conditionalJson(
  request: Request,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return conditionalText(request, JSON.stringify(body), headers);
}

/** As `conditionalJson`, for text: JSON, unless the headers have another `Content-Type`. */
export function conditionalText(
  request: Request,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 32)}"`;
  const isPersonal = request.headers.has("authorization") || request.headers.has("cookie");
  const kept = {
    ...headers,
    ETag: etag,
    "Cache-Control": `${isPersonal ? "private" : "public"}, no-cache`,
    Vary: [headers["Vary"] ?? [], "Authorization, Cookie, X-Org-Slug"].flat().join(", "),
  };
  if (isKnownTag(request, etag)) return new Response(null, { status: 304, headers: kept });
  return new Response(text, { headers: { "Content-Type": "application/json;charset=utf-8", ...kept } });
}

/** One object of several, each JSON text and none of them empty. */
export function joinJson(objects: readonly string[]): string {
  return `{${objects.map((object) => object.slice(1, -1)).join()}}`;
}
