/** Builds the OpenAPI document from the operations. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { Text } from "../../shared/schemas.ts";
import { DELIVERED_EVENT } from "../events/event_schemas.ts";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../http/body/json_limits.ts";
import type { AnyOperation } from "../http/operation.ts";
import { CREDENTIALS, describeOperations } from "./describe_operations.ts";
import { COMMON_HEADERS } from "./headers.ts";
import { collectSchemas } from "./schemas.ts";
import { shareComponents } from "./share_components.ts";
import type { OpenApiDocument, OpenApiOperation } from "./types.ts";

/** Since OpenAPI 3.1, schemas are plain JSON Schema. */
const OPENAPI_VERSION = "3.1.0";
const SPEC_PATH = "/openapi.json";

const INFO = {
  title: "Tracker data export, definitions and models",
  version: "1.0.0",
  description: [
    "Exports issue-tracker data, and serves a registry of definitions and a catalog of language models.",
    "**Authentication.** Send `Authorization: Bearer` with an API key (`ulr_…`, from `POST /api/v1/auth/keys`) or a session " +
      "token (`uls_…`, from `POST /api/v1/auth/login`).",
    "**Organization.** It is resolved in this order: the path, the key's organization, the `X-Org-Slug` header, your personal " +
      "organization.",
    "**Request bodies** are JSON objects in UTF-8 of at most 1 MiB (4 KiB under `/api/v1/auth`, 32 KiB with the response of a passkey), " +
      `with at most ${MAX_JSON_DEPTH} levels and ${MAX_JSON_VALUES.toLocaleString("en-US")} members and elements. ` +
      "An omitted body means `{}`.",
    "**Responses** are wrapped in `data`, except files, export jobs, single models and comparisons. Every response has one media type: " +
      "`.csv`, `.parquet`, `.md` and `.yaml` are operations of their own. NDJSON is a text of one JSON object per line; " +
      "`contentSchema` has the list of these objects.",
    "**Errors** have the form `{ error: { code, message, requestId, details? } }`. `message` says what is wrong and what to do; " +
      "`code` determines the fields of `details`. Quote `requestId` when you contact support.",
    `**Headers.** ${COMMON_HEADERS}`,
    "**Compression.** Responses of 4 KiB or more are compressed (`zstd`, `gzip`) according to `Accept-Encoding`; each encoding " +
      "has its own `ETag`. A caller with 8 MiB of unread responses gets `RATE_LIMITED` for further large ones.",
  ].join("\n\n"),
  license: { name: "MIT", identifier: "MIT" },
};

/** Groups of endpoints, in the order of the document. */
export const OPENAPI_TAGS = [
  {
    name: "Export",
    description:
      "Tracker data of a project or an organization, as a consistent snapshot at a point in time. Requires a paid tier. " +
      "Bundles and organization exports also require the publisher role, and a session or a key of kind `user`.\n\n" +
      "Errors are returned as JSON before the first byte of a file; a later failure closes the connection. " +
      "`Accept-Encoding: gzip` or `zstd` compresses NDJSON and CSV. A user runs at most `EXPORT_STREAMS_PER_USER` exports at " +
      "once, downloads included, and an organization `EXPORT_STREAMS_PER_ORG`; more are 429. The connection is closed if the " +
      "caller loses access, if the export takes longer than `EXPORT_STREAM_MAX_MINUTES`, or, while others wait for a slot, " +
      "if the reader falls 1.5 MiB behind 16 KiB/s.",
  },
  { name: "Organizations", description: "Organizations, their members and projects." },
  { name: "Users", description: "Public profiles." },
  {
    name: "Versions",
    description: "The versions of a definition and the differences between them.",
  },
  { name: "Definitions", description: "Agents, commands, workflows and pipelines." },
  {
    name: "Model catalog",
    description:
      "Language models with capabilities, prices and aliases. No credential required; responses have an ETag.",
  },
  {
    name: "Events",
    description:
      "What happened: exports that ended, definitions that changed their status, models and their prices.",
  },
  { name: "Authentication", description: "Sign-in, sessions and API keys." },
  { name: "Operations", description: "Probes and metrics for operators. No credential required." },
] as const;

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
  const described = { paths: describeOperations(operations), webhooks: { event: { post: DELIVERY } } };
  const { part, schemas } = collectSchemas(described);
  const { paths, components } = shareComponents(part.paths);
  const tags = Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ tags = [] }) => tags));
  const documentation = {
    openapi: OPENAPI_VERSION,
    info: { ...INFO, contact: { name: "Security policy and contact", url: `${publicUrl}/security-policy` } },
    servers: [{ url: "/", description: "This service" }],
    tags: listTags(new Set(tags)),
    security: CREDENTIALS,
    paths,
    webhooks: part.webhooks,
    components: { securitySchemes: securitySchemes(sessionCookie), ...components, schemas },
  };
  // This separate app never listens, because the plugin's page loads scripts from other servers.
  const reader = new Elysia().use(swagger({ specPath: SPEC_PATH, documentation: documentation as object }));
  const response = await reader.handle(new Request(`http://localhost${SPEC_PATH}`));
  return (await response.json()) as OpenApiDocument;
}

/** Returns the used tags in the order of OPENAPI_TAGS. Throws for an unknown tag. */
function listTags(used: ReadonlySet<string>): object[] {
  const [unknown] = used.difference(new Set<string>(OPENAPI_TAGS.map(({ name }) => name)));
  if (unknown !== undefined) {
    throw new Error(`Cannot describe the API: the tag "${unknown}" is not on the list`);
  }
  return OPENAPI_TAGS.filter(({ name }) => used.has(name));
}

function header(name: string, description: string, example: string) {
  return { name, in: "header", required: true, description, example, schema: Text } as const;
}

/** The webhook request of the job runner. Clients do not send it, so the API's errors and headers do not apply. */
const DELIVERY: OpenApiOperation = {
  tags: ["Events"],
  operationId: "receiveEvent",
  summary: "Receive an event",
  description:
    "Sent to the URL of a webhook, signed as Standard Webhooks says. Every event arrives at least once, in no promised " +
    "order. `POST /orgs/{slug}/webhooks/{id}/test` sends the type `webhook.test`. Accept types that you do not know: more " +
    "may come.",
  parameters: [
    header(
      "webhook-id",
      "The same with every attempt: use it to drop repetitions",
      "1f7a4d9c-5a35-4f6b-9a1e-2f0a7b1c3d4e",
    ),
    header("webhook-timestamp", "Time of the attempt, in Unix seconds", "1795168807"),
    header(
      "webhook-signature",
      "`v1,` and the Base64 of the HMAC-SHA256 of id, timestamp and body, joined by dots. Several are separated by spaces",
      "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
  ],
  requestBody: {
    required: true,
    content: { "application/json": { schema: DELIVERED_EVENT, example: DELIVERED_EVENT.examples[0] } },
  },
  responses: {
    "2XX": { description: "Delivered. The body is not read" },
    default: { description: "Not delivered: the event is sent again, for three days" },
  },
  security: [],
};
