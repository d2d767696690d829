/** Entity tags: whether a client has already what it asks for (RFC 9110, section 13.1.2). */
import { chooseEncoding, encodedTag } from "./content_encoding.ts";

/**
 * True when `If-None-Match` names the strong tag, in the encoding that the client asks for: `encoder.ts` gives
 * every response that tag. The header compares weakly, so `W/"x"` names `"x"` too.
 */
export function isKnownTag(request: Request, etag: string): boolean {
  const condition = request.headers.get("if-none-match");
  if (condition === null) return false;
  const tags = condition.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  const encoding = chooseEncoding(request.headers.get("accept-encoding"));
  return tags.includes(encodedTag(etag, encoding)) || tags.includes("*");
}
