/** Response headers of errors, and headers of all responses. */
import { type TSchema, Type } from "@sinclair/typebox";
import { Natural, Text } from "../../shared/schemas.ts";
import { ACCEPTED_REQUEST_ID } from "../http/request_context.ts";
import type { OpenApiHeader } from "./types.ts";

function required(description: string, schema: TSchema): OpenApiHeader {
  return { description, required: true, schema };
}

/** Header of every response. */
const REQUEST_ID = {
  "X-Request-Id": required(
    "Id of this request in the log. An id sent by the client is kept.",
    Type.String({ pattern: ACCEPTED_REQUEST_ID.source }),
  ),
};

/** Headers of every response under `/api/v1`. */
const RATE_LIMIT = {
  "X-RateLimit-Limit": required("Requests per minute", Natural),
  "X-RateLimit-Remaining": required("Requests left in this minute", Natural),
  "X-RateLimit-Reset": required("End of this minute, in Unix seconds", Natural),
  "RateLimit-Policy": required(
    "The limit by the IETF draft: name, requests (`q`) and seconds (`w`)",
    Type.String({ examples: ['"user";q=1200;w=60'] }),
  ),
  RateLimit: required(
    "What is left of it: requests (`r`) and seconds until more (`t`)",
    Type.String({ examples: ['"user";r=1199;t=60'] }),
  ),
};

const RETRY_AFTER = {
  "Retry-After": required("Seconds to wait before retrying", Type.Integer({ minimum: 1 })),
};

/**
 * Headers of error responses by status. The headers of every response are described only here and in `info`. Repeated in every
 * response, they made up a sixth of the document.
 */
export const ERROR_HEADERS: Readonly<Record<number, Readonly<Record<string, OpenApiHeader>>>> = {
  401: { "WWW-Authenticate": required("Always `Bearer`", Text) },
  429: { ...RATE_LIMIT, ...RETRY_AFTER },
  500: REQUEST_ID,
  503: RETRY_AFTER,
};

/** Markdown description of the headers of every response. */
export const COMMON_HEADERS = [
  "Every response has `X-Request-Id`, and under `/api/v1` the rate limit of the caller. Except for 429 and 500, responses list only their other headers.",
  Object.entries({ ...REQUEST_ID, ...RATE_LIMIT })
    .map(([name, { description }]) => `- \`${name}\`: ${description}`)
    .join("\n"),
].join("\n\n");
