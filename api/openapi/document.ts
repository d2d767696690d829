/** The OpenAPI document: what the swagger plugin reads from the routes, corrected and completed. */
import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import type { JsonSchema } from "../../shared/json_schema.ts";
import {
  ACCESS_FIELD,
  NOT_COUNTED_FIELD,
  PAST_COOKIE_FIELD,
  READS_FIELD,
  SECRET_FIELD,
} from "../http/access.ts";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../http/body/json_limits.ts";
import { maxBodyBytes } from "../http/body/request_body.ts";
import { YAML_FIELD } from "../http/body/yaml_body.ts";
import { describeQuery, type Query } from "../http/query.ts";
import type { RegisteredRoute } from "../http/route_table.ts";
import { DELIVERY } from "../webhooks/delivery_openapi.ts";
import { failureResponses, type OperationTraits } from "./failures.ts";
import { commonHeaders, OPENAPI_HEADERS } from "./headers.ts";
import { IDEMPOTENCY_KEY, IF_NONE_MATCH, OPENAPI_PARAMETERS } from "./parameters.ts";
import { createSchemaCollector, type SchemaCollector } from "./schemas.ts";
import { listTags } from "./tags.ts";
import {
  type DeclaredOperation,
  describe,
  FAILURES_FIELD,
  OPENAPI_METHODS,
  type OpenApiDocument,
  type OpenApiMedia,
  type OpenApiMethod,
  type OpenApiOperation,
  type OpenApiParameter,
  type OpenApiPath,
  type OpenApiReference,
  type OpenApiResponse,
  OTHER_PATHS_FIELD,
} from "./types.ts";

/** In 3.1, schemas are plain JSON Schema. The plugin writes 3.0, whose schemas have no type "null". */
const OPENAPI_VERSION = "3.1.0";
const SPEC_PATH = "/openapi.json";
const API_PREFIX = "/api/v1/";

const INFO = {
  title: "Tracker data export, definitions and models",
  version: "1.0.0",
  description: [
    "Exports issue-tracker data, and serves a registry of definitions and a catalog of language models.",
    "Authorize with an API key (`ulr_…`) or a session token (`uls_…`).",
    "The organization is resolved in this order: the path, the key's organization, the `X-Org-Slug` header, your personal " +
      "organization.",
    "Responses are wrapped in `data`, except files, export jobs and single models. Errors have the form " +
      "`{ error: { code, message, requestId, details? } }`. Quote `requestId` when you contact support.",
    "A request body is one JSON object in UTF-8 of at most 1 MiB (4 KiB under `/auth`), with at most " +
      `${MAX_JSON_DEPTH} levels and ${MAX_JSON_VALUES.toLocaleString("en-US")} members and elements. ` +
      "An omitted body means `{}`.",
    "Every response has one media type: `.csv`, `.parquet`, `.md` and `.yaml` are operations of their own. NDJSON is a text " +
      "of one JSON object per line; `contentSchema` has the list of these objects.",
    "Responses of 4 KiB or more are compressed (`zstd`, `gzip`) according to `Accept-Encoding`; each encoding has its own " +
      "`ETag`. A caller with 8 MiB of unread responses gets `RATE_LIMITED` for further large ones.",
  ].join("\n\n"),
  contact: { name: "The operators of this service", url: "/.well-known/security.txt" },
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

/** Either is sufficient. */
const CREDENTIALS = [{ bearer: [] }, { cookie: [] }];

/** Returns the OpenAPI document of the routes of `service`. `sessionCookie` is the name of the session cookie. */
export async function buildOpenApi(
  service: AnyElysia,
  { sessionCookie }: { sessionCookie: string },
): Promise<OpenApiDocument> {
  // A separate app that never listens: the plugin also has a page, which loads scripts from other servers.
  const reader = new Elysia()
    .use(
      swagger({
        specPath: SPEC_PATH,
        excludeStaticFile: false,
        documentation: { info: INFO, servers: [{ url: "/", description: "This service" }] },
      }),
    )
    .use(service)
    .use(wildcardRoutes(service))
    .use(otherPaths(service));
  const response = await reader.handle(new Request(`http://localhost${SPEC_PATH}`));
  // Only the paths of the plugin's document are used.
  const read = (await response.json()) as OpenApiDocument;
  const schemas = createSchemaCollector();
  const paths = completePaths(read.paths, schemas);
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  return {
    ...read,
    openapi: OPENAPI_VERSION,
    tags: listTags(new Set(operations.flatMap(({ tags = [] }) => tags))),
    paths,
    webhooks: { event: { post: completeDelivery(schemas) } },
    components: {
      securitySchemes: securitySchemes(sessionCookie),
      headers: OPENAPI_HEADERS,
      parameters: OPENAPI_PARAMETERS,
      schemas: schemas.components,
    } as OpenApiDocument["components"],
  };
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

/**
 * Returns stand-ins for routes that end in `*`, which the plugin leaves out and OpenAPI cannot express. The wildcard gets
 * the name of the last path parameter in the route's description.
 */
function wildcardRoutes(service: AnyElysia): AnyElysia {
  const named = new Elysia();
  const registered: readonly RegisteredRoute[] = service.routes;
  for (const { method, path, hooks } of registered) {
    if (!path.endsWith("/*")) continue;
    // Elysia types hooks as `any`.
    const { detail = {} } = hooks as { detail?: DocumentDecoration };
    const rest = detail.parameters?.findLast((parameter) => "in" in parameter && parameter.in === "path");
    named.route(method, `${path.slice(0, -1)}:${rest && "name" in rest ? rest.name : "rest"}`, () => "", {
      detail,
    });
  }
  return named;
}

/** Returns stand-ins for the other paths of routes. */
function otherPaths(service: AnyElysia): AnyElysia {
  const named = new Elysia();
  const registered: readonly RegisteredRoute[] = service.routes;
  for (const { method, hooks } of registered) {
    // Elysia types hooks as `any`.
    const { detail = {} } = hooks as { detail?: DeclaredOperation };
    const { [OTHER_PATHS_FIELD]: others = [], hide: _, ...own } = detail;
    for (const other of others) {
      // The plugin would take braces for a parameter that it does not know.
      const path = other.path.replaceAll(/\{(\w+)\}/g, "($1)");
      named.route(method, path, () => "", { detail: describe({ ...own, ...other.detail }) });
    }
  }
  return named;
}

function completePaths(paths: OpenApiDocument["paths"], schemas: SchemaCollector): OpenApiDocument["paths"] {
  const complete: OpenApiDocument["paths"] = {};
  for (const [given, operations] of Object.entries(paths)) {
    // The plugin does not convert a parameter inside a segment: `/@:orgSlug`.
    const path = given.replaceAll(/:(\w+)|\((\w+)\)/g, "{$1$2}").replace(/(?<=.)\/$/, "");
    const completed: OpenApiPath = {};
    for (const method of OPENAPI_METHODS) {
      const operation = operations[method];
      if (operation) completed[method] = completeOperation(operation, { path, method, schemas });
    }
    complete[path] = { ...complete[path], ...completed };
  }
  return complete;
}

function completeOperation(
  declared: DeclaredOperation,
  { path, method, schemas }: { path: string; method: OpenApiMethod; schemas: SchemaCollector },
): OpenApiOperation {
  const {
    [ACCESS_FIELD]: access,
    [PAST_COOKIE_FIELD]: looksPastCookie = false,
    [NOT_COUNTED_FIELD]: isNotCounted = false,
    [READS_FIELD]: reads = false,
    [YAML_FIELD]: yamlQuery = null,
    [SECRET_FIELD]: _holdsSecret,
    [FAILURES_FIELD]: failures = [],
    [OTHER_PATHS_FIELD]: _,
    ...operation
  } = declared;
  const isApi = path.startsWith(API_PREFIX);
  const isGet = method === "get";
  const isRepeatable = isApi && method === "post";
  const traits: OperationTraits = {
    isApi,
    access,
    looksPastCookie,
    isCounted: !isNotCounted,
    maxBodyBytes: isGet ? null : maxBodyBytes(path),
    writes: !isGet && !reads,
    isRepeatable,
  };
  const { requestBody, responses = {} } = operation;
  const parameters = [
    ...(withYamlParameters(operation.parameters, yamlQuery) ?? []),
    ...("304" in responses ? [IF_NONE_MATCH] : []),
    ...(isRepeatable ? [IDEMPOTENCY_KEY] : []),
  ];
  const all = { ...failureResponses(traits, failures), ...described(responses) };
  return {
    ...operation,
    ...(parameters.length > 0
      ? { parameters: parameters.map((parameter) => completeParameter(parameter, schemas)) }
      : {}),
    ...(requestBody
      ? { requestBody: withYaml(completeBody(requestBody, schemas), yamlQuery && schemas) }
      : {}),
    responses: Object.fromEntries(
      Object.entries(all).map(([status, response]) => [
        status,
        completeResponse(response, commonHeaders(isApi), schemas),
      ]),
    ),
    security: isApi ? [...(access === "public" ? [{}] : []), ...CREDENTIALS] : [],
  };
}

/** Turns the plugin's list of examples into the one `example` of a parameter. */
function completeParameter(
  declared: (OpenApiParameter & { examples?: readonly unknown[] }) | OpenApiReference,
  schemas: SchemaCollector,
): OpenApiParameter | OpenApiReference {
  if ("$ref" in declared) return declared;
  const { examples, ...parameter } = declared;
  const example = examples ? { example: examples[0] } : {};
  return withSchema(withoutPrefill({ ...parameter, ...example }), schemas);
}

/**
 * Moves the default of an optional query parameter or header into its description, and drops its example. Swagger UI
 * prefills and sends both: every try would carry a cutoff of the past, or a range beyond the end of the file.
 */
function withoutPrefill(parameter: OpenApiParameter): OpenApiParameter {
  if (parameter.in === "path" || parameter.required) return parameter;
  const { example: _, ...rest } = parameter;
  const { default: unset, ...schema } = (parameter.schema ?? {}) as JsonSchema;
  if (unset === undefined) return rest;
  const description = `${parameter.description?.replace(/\.$/, "")}. Default: \`${unset}\`.`;
  return { ...rest, description, schema };
}

function withSchema<Holder extends { schema?: unknown }>(holder: Holder, schemas: SchemaCollector): Holder {
  return holder.schema === undefined ? holder : { ...holder, schema: schemas.add(holder.schema) };
}

function completeBody(
  body: NonNullable<OpenApiOperation["requestBody"]>,
  schemas: SchemaCollector,
): NonNullable<OpenApiOperation["requestBody"]> {
  const content = jsonOnly(body.content);
  // No body is the same as {}: it is required if one of its fields is.
  const required = Object.values(content).some(
    ({ schema }) => ((schema as JsonSchema | undefined)?.["required"] as unknown[] | undefined)?.length,
  );
  return {
    ...body,
    required,
    content: mapValues(content, (media) => withSchema(withOwnExample(media), schemas)),
  };
}

const YAML_BODY = {
  title: "YamlBody",
  type: "string",
  description: "The field `yaml` of the JSON body. The other fields are query parameters then.",
};

/** Adds the body that is the YAML itself, where it is accepted. */
function withYaml(
  body: NonNullable<OpenApiOperation["requestBody"]>,
  schemas: SchemaCollector | null,
): NonNullable<OpenApiOperation["requestBody"]> {
  if (!schemas) return body;
  const schema = schemas.add(YAML_BODY);
  return { ...body, content: { ...body.content, "application/yaml": { schema } } };
}

function withYamlParameters(
  parameters: OpenApiOperation["parameters"],
  yamlQuery: Query | null,
): OpenApiOperation["parameters"] {
  if (!yamlQuery) return parameters;
  const described = describeQuery(yamlQuery) as OpenApiParameter[];
  const forYaml = described.map((parameter) => ({
    ...parameter,
    description: `${parameter.description}. Only with a YAML body`,
  }));
  return [...(parameters ?? []), ...forYaml];
}

function completeResponse(
  { content, headers = {}, ...response }: OpenApiResponse,
  common: Record<string, object>,
  schemas: SchemaCollector,
): OpenApiResponse {
  return {
    ...response,
    headers: { ...common, ...headers },
    ...(content ? { content: mapValues(content, (media) => withSchema(media, schemas)) } : {}),
  };
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  map: (value: In) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

/** Uses a schema's first example as the body's example, with which Swagger UI prefills the request. */
function withOwnExample(media: OpenApiMedia): OpenApiMedia {
  const { examples: [example] = [] } = (media.schema ?? {}) as { examples?: readonly unknown[] };
  return example === undefined ? media : { ...media, example };
}

/** Removes the forms and plain text that the plugin adds to JSON. Content types declared by a route stay. */
function jsonOnly(content: Record<string, OpenApiMedia>): Record<string, OpenApiMedia> {
  const json = content["application/json"];
  return json && "multipart/form-data" in content ? { "application/json": json } : content;
}

/** Adds the description that OpenAPI requires on every response. */
function described(responses: Record<string, OpenApiResponse>): Record<string, OpenApiResponse> {
  return mapValues(responses, ({ examples = [], content, ...response }) => ({
    ...response,
    description: response.description ?? "Done",
    ...(content ? { content: withExample(jsonOnly(content), examples[0]) } : {}),
  }));
}

function withExample(content: Record<string, OpenApiMedia>, example: unknown): Record<string, OpenApiMedia> {
  return example === undefined ? content : mapValues(content, (media) => ({ ...media, example }));
}
