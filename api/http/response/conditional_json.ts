/** JSON responses with a strong ETag, and 304 for clients that have the current text (RFC 9110). */
import { createHash } from "node:crypto";
import { isKnownTag } from "./etag.ts";

/**
 * Returns the response to a read: 304 if the client has this text. Clients may store it but must revalidate it. Shared
 * caches must not store it if it depends on the caller.
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

/** Merges several non-empty JSON objects, given as text. */
export function joinJson(objects: readonly string[]): string {
  return `{${objects.map((object) => object.slice(1, -1)).join()}}`;
}
