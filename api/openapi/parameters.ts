/** The parameters that operations share in the OpenAPI document. */
import { TEXT } from "../../shared/json_schema.ts";
import type { OpenApiParameter, OpenApiReference } from "./types.ts";

/** By component name. */
export const OPENAPI_PARAMETERS: Readonly<Record<string, OpenApiParameter>> = {
  OrgSlug: {
    name: "X-Org-Slug",
    in: "header",
    description:
      "The organization to use, which you must be a member of. Default: the organization of the key. Without one, reads " +
      "of definitions search everything you can see, writes to a definition use the only organization where you can " +
      "change it, and everything else uses your personal organization",
    example: "demo",
    schema: TEXT,
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description:
      "The `ETag` of an earlier response. The response is 304, without a body, if nothing has changed",
    schema: TEXT,
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "1 to 128 printable ASCII characters that you choose for this request. If you lose the response, repeat the request " +
      "with the same key within 24 hours: you get the same response with `Idempotency-Replayed: true`, and nothing is " +
      "written twice",
    schema: TEXT,
  },
};

/** `If-None-Match`: every operation that can respond 304 has it. */
export const IF_NONE_MATCH: OpenApiReference = { $ref: "#/components/parameters/IfNoneMatch" };

/** `Idempotency-Key`. */
export const IDEMPOTENCY_KEY: OpenApiReference = { $ref: "#/components/parameters/IdempotencyKey" };

/** `X-Org-Slug`. */
export const ORG_SLUG: OpenApiReference = { $ref: "#/components/parameters/OrgSlug" };
