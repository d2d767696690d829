/** The common response headers in the OpenAPI document. */

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };

/** By name. */
const OPENAPI_HEADERS = {
  "X-Request-Id": {
    description: "Id of this request in the log. An id sent by the client is kept.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_.-]{1,128}$" },
  },
  "X-RateLimit-Limit": { description: "Requests per minute", schema: COUNT },
  "X-RateLimit-Remaining": { description: "Requests left in this minute", schema: COUNT },
  "X-RateLimit-Reset": { description: "End of this minute, in Unix seconds", schema: COUNT },
  "RateLimit-Policy": {
    description: "The limit by the IETF draft: name, requests (`q`) and seconds (`w`)",
    schema: { ...TEXT, examples: ['"user";q=1200;w=60'] },
  },
  RateLimit: {
    description: "What is left of it: requests (`r`) and seconds until more (`t`)",
    schema: { ...TEXT, examples: ['"user";r=1199;t=60'] },
  },
  "Retry-After": { description: "Seconds to wait before retrying", schema: { ...COUNT, minimum: 1 } },
  "WWW-Authenticate": { description: "Always `Bearer`", schema: TEXT },
} as const;

/** Returns references to the headers of every response. */
export function commonHeaders(isApi: boolean): Record<string, object> {
  const names = Object.keys(OPENAPI_HEADERS).filter(
    (name) => name === "X-Request-Id" || (isApi && /^(X-)?RateLimit/.test(name)),
  );
  return Object.fromEntries(names.map((name) => [name, headerRef(name)]));
}

/** The headers by component name. */
export const HEADER_COMPONENTS = Object.fromEntries(
  Object.entries(OPENAPI_HEADERS).map(([name, header]) => [componentName(name), header]),
);

/** Returns the reference to a common header. */
export function headerRef(name: string): object {
  return { $ref: `#/components/headers/${componentName(name)}` };
}

/** Short, because every response has several: `Remaining` for `X-RateLimit-Remaining`. */
function componentName(header: string): string {
  return header.replace(/^(?:X-RateLimit-|RateLimit-|X-)/, "").replaceAll("-", "");
}
