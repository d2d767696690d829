/** The response headers that several operations have. */
import type { OpenApiHeader } from "./types.ts";

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };

const REQUEST_ID: Readonly<Record<string, OpenApiHeader>> = {
  "X-Request-Id": {
    description: "Id of this request in the log. An id sent by the client is kept.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9_.-]{1,128}$" },
  },
};

const RATE_LIMIT: Readonly<Record<string, OpenApiHeader>> = {
  "X-RateLimit-Limit": { description: "Requests per minute", required: true, schema: COUNT },
  "X-RateLimit-Remaining": {
    description: "Requests left in this minute",
    required: true,
    schema: COUNT,
  },
  "X-RateLimit-Reset": {
    description: "End of this minute, in Unix seconds",
    required: true,
    schema: COUNT,
  },
  "RateLimit-Policy": {
    description: "The limit by the IETF draft: name, requests (`q`) and seconds (`w`)",
    required: true,
    schema: { ...TEXT, examples: ['"user";q=1200;w=60'] },
  },
  RateLimit: {
    description: "What is left of it: requests (`r`) and seconds until more (`t`)",
    required: true,
    schema: { ...TEXT, examples: ['"user";r=1199;t=60'] },
  },
};

const RETRY_AFTER: Readonly<Record<string, OpenApiHeader>> = {
  "Retry-After": {
    description: "Seconds to wait before retrying",
    required: true,
    schema: { ...COUNT, minimum: 1 },
  },
};

/** The headers of error responses by status. */
export const ERROR_HEADERS: Readonly<Record<number, Readonly<Record<string, OpenApiHeader>>>> = {
  401: { "WWW-Authenticate": { description: "Always `Bearer`", required: true, schema: TEXT } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** Returns the headers of every response. */
export function commonHeaders(isApi: boolean): Readonly<Record<string, OpenApiHeader>> {
  return isApi ? { ...REQUEST_ID, ...RATE_LIMIT } : REQUEST_ID;
}
