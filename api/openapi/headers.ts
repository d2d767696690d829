/** The response headers of errors, and those that every response has. */
import type { OpenApiHeader } from "./types.ts";

type Headers = Readonly<Record<string, OpenApiHeader>>;

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };

/** Of every response. */
const REQUEST_ID: Headers = {
  "X-Request-Id": {
    description: "Id of this request in the log. An id sent by the client is kept.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9_.-]{1,128}$" },
  },
};

/** Of every response under `/api/v1`. */
const RATE_LIMIT: Headers = {
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

const RETRY_AFTER: Headers = {
  "Retry-After": {
    description: "Seconds to wait before retrying",
    required: true,
    schema: { ...COUNT, minimum: 1 },
  },
};

/**
 * The headers of error responses by status. Those that every response has are described here and in `info` only: listed with
 * every response, they were a sixth of the document.
 */
export const ERROR_HEADERS: Readonly<Record<number, Headers>> = {
  401: { "WWW-Authenticate": { description: "Always `Bearer`", required: true, schema: TEXT } },
  429: { ...RATE_LIMIT, ...RETRY_AFTER },
  500: REQUEST_ID,
  503: RETRY_AFTER,
};

/** Describes the headers of every response, in Markdown. */
export const COMMON_HEADERS = [
  "Every response has `X-Request-Id`, and under `/api/v1` the rate limit of the caller. Responses list only their other headers.",
  Object.entries({ ...REQUEST_ID, ...RATE_LIMIT })
    .map(([name, { description }]) => `- \`${name}\`: ${description}`)
    .join("\n"),
].join("\n\n");
