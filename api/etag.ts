/** Entity tags: whether a client has already what it asks for (RFC 9110, section 13.1.2). */

/** True when `If-None-Match` names the strong tag. The header compares weakly, so `W/"x"` names `"x"` too. */
export function isKnownTag(request: Request, etag: string): boolean {
  const condition = request.headers.get("if-none-match");
  if (condition === null) return false;
  const tags = condition.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}
