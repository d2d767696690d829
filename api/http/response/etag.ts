/** Checks `If-None-Match` (RFC 9110, section 13.1.2). */
import { chooseEncoding, encodedTag } from "./content_encoding.ts";

/**
 * Returns true if `If-None-Match` has the tag, in the encoding that the client asks for, as `compress_response.ts` sends it. The
 * comparison is weak: `W/"x"` matches `"x"`.
 */
export function isKnownTag(request: Request, etag: string): boolean {
  const condition = request.headers.get("if-none-match");
  if (condition === null) return false;
  const tags = condition.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  const encoding = chooseEncoding(request.headers.get("accept-encoding"));
  return tags.includes(encodedTag(etag, encoding)) || tags.includes("*");
}
