/** The OpenAPI document: a map over the operations. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../http/body/json_limits.ts";
import type { AnyOperation } from "../http/operation.ts";
import { mapValues, withSchema } from "./complete.ts";
import { DELIVERY } from "./delivery.ts";
import { HEADER_COMPONENTS } from "./headers.ts";
import { describeOperations } from "./operations.ts";
import { shareParameters } from "./parameters.ts";
import { createSchemaCollector, type SchemaCollector } from "./schemas.ts";
import { shareResponses } from "./share_responses.ts";
import { listTags } from "./tags.ts";
import type { OpenApiDocument, OpenApiOperation } from "./types.ts";

/** In 3.1, schemas are plain JSON Schema. */
const OPENAPI_VERSION = "3.1.0";
const SPEC_PATH = "/openapi.json";

const INFO = {
  title: "Tracker data export, definitions and models",
  version: "1.0.0",
  description: [
    "Exports issue-tracker data, and serves a registry of definitions and a catalog of language models.",
    "Authorize with an API key (`ulr_…`) or a session token (`uls_…`).",
    "The organization is resolved in this order: the path, the key's organization, the `X-Org-Slug` header, your personal " +
      "organization.",
    "Responses are wrapped in `data`, except files, export jobs and single models. Errors have the form " +
      "`{ error: { code, message, requestId, details? } }`. `message` says what is wrong and what to do; `code` " +
      "says what `details` has. Quote `requestId`, the X-Request-Id of the response, when you contact support.",
    "A request body is one JSON object in UTF-8 of at most 1 MiB (4 KiB under `/auth`, 32 KiB with the response of a passkey), with at most " +
      `${MAX_JSON_DEPTH} levels and ${MAX_JSON_VALUES.toLocaleString("en-US")} members and elements. ` +
      "An omitted body means `{}`.",
    "Every response has one media type: `.csv`, `.parquet`, `.md` and `.yaml` are operations of their own. NDJSON is a text " +
      "of one JSON object per line; `contentSchema` has the list of these objects.",
    "Responses of 4 KiB or more are compressed (`zstd`, `gzip`) according to `Accept-Encoding`; each encoding has its own " +
      "`ETag`. A caller with 8 MiB of unread responses gets `RATE_LIMITED` for further large ones.",
  ].join("\n\n"),
  license: { name: "MIT", identifier: "MIT" },
};

function securitySchemes(sessionCookie: string) {
  return {
    bearer: {
      type: "http",
      scheme: "bearer",
      description: "An API key (`ulr_…`) or a session token (`uls_…`)",
    },
    cookie: {
      type: "apiKey",
      in: "cookie",
      name: sessionCookie,
      description:
        "The session of a browser, used if there is no Authorization header. Writes must come from a page of this " +
        "service (otherwise FORBIDDEN_ORIGIN). The cookie is `__Host-ulr_session` over https and `ulr_session` over " +
        "http. A request with two session cookies is rejected.",
    },
  } as const;
}

export interface DocumentOptions {
  /** The name of the session cookie. */
  sessionCookie: string;
  publicUrl: string;
}

/** Returns the OpenAPI document of the operations. */
export async function buildOpenApi(
  operations: readonly AnyOperation[],
  { sessionCookie, publicUrl }: DocumentOptions,
): Promise<OpenApiDocument> {
  const schemas = createSchemaCollector();
  const all = describeOperations(operations, schemas);
  const tags = Object.values(all).flatMap((path) => Object.values(path).flatMap(({ tags = [] }) => tags));
  const webhooks = { event: { post: completeDelivery(schemas) } };
  const { paths, responses, examples } = shareResponses(all);
  const parameters = shareParameters(Object.values(paths).flatMap((path) => Object.values(path)));
  const documentation = {
    openapi: OPENAPI_VERSION,
    info: { ...INFO, contact: { name: "Security policy and contact", url: `${publicUrl}/security-policy` } },
    servers: [{ url: "/", description: "This service" }],
    tags: listTags(new Set(tags)),
    paths,
    webhooks,
    components: {
      securitySchemes: securitySchemes(sessionCookie),
      headers: HEADER_COMPONENTS,
      parameters,
      responses,
      examples,
      schemas: schemas.components,
    },
  };
  // A separate app that never listens: the plugin also has a page, which loads scripts from other servers.
  const reader = new Elysia().use(swagger({ specPath: SPEC_PATH, documentation: documentation as object }));
  const response = await reader.handle(new Request(`http://localhost${SPEC_PATH}`));
  return (await response.json()) as OpenApiDocument;
}

/** Completes the request that webhooks get: a client sends none of it, so it has no errors and no headers of ours. */
function completeDelivery(schemas: SchemaCollector): OpenApiOperation {
  const content = DELIVERY.requestBody?.content ?? {};
  return {
    ...DELIVERY,
    requestBody: { required: true, content: mapValues(content, (media) => withSchema(media, schemas)) },
    security: [],
  };
}
