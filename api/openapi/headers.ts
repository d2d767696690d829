/** The common response headers in the OpenAPI document. */

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };

/** By name. */
export const OPENAPI_HEADERS = {
  "X-Request-Id": {
    description: "Id of this request in the log. An id sent by the client is kept.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_.-]{1,128}$" },
  },
  "X-RateLimit-Limit": { description: "Requests per minute", schema: COUNT },
  "X-RateLimit-Remaining": { description: "Requests left in this minute", schema: COUNT },
  "X-RateLimit-Reset": { description: "End of this minute, in Unix seconds", schema: COUNT },
  "Retry-After": { description: "Seconds to wait before retrying", schema: { ...COUNT, minimum: 1 } },
  "WWW-Authenticate": { description: "Always `Bearer`", schema: TEXT },
} as const;

/** Returns references to the headers of every response. */
export function commonHeaders(isApi: boolean): Record<string, object> {
  const names = Object.keys(OPENAPI_HEADERS).filter(
    (name) => name === "X-Request-Id" || (isApi && name.startsWith("X-RateLimit-")),
  );
  return Object.fromEntries(names.map((name) => [name, headerRef(name)]));
}

/** Returns the reference to a common header. */
export function headerRef(name: string): object {
  return { $ref: `#/components/headers/${name}` };
}
