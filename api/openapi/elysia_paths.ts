/** The paths of the routes that are no operations yet: what the swagger plugin reads from them, corrected. */
import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import {
  ACCESS_FIELD,
  NOT_COUNTED_FIELD,
  PAST_COOKIE_FIELD,
  READS_FIELD,
  SECRET_FIELD,
} from "../http/access.ts";
import { maxBodyBytes } from "../http/body/request_body.ts";
import { YAML_FIELD } from "../http/body/yaml_body.ts";
import type { RegisteredRoute } from "../http/elysia_routes.ts";
import {
  completeBody,
  completeParameter,
  completeResponse,
  mapValues,
  withYaml,
  withYamlParameters,
} from "./complete.ts";
import { failureResponses, type OperationTraits } from "./failures.ts";
import { commonHeaders } from "./headers.ts";
import { IDEMPOTENCY_KEY, IF_NONE_MATCH } from "./parameters.ts";
import type { SchemaCollector } from "./schemas.ts";
import {
  type DeclaredOperation,
  describe,
  FAILURES_FIELD,
  OPENAPI_METHODS,
  type OpenApiDocument,
  type OpenApiMedia,
  type OpenApiMethod,
  type OpenApiOperation,
  type OpenApiPath,
  type OpenApiResponse,
  OTHER_PATHS_FIELD,
} from "./types.ts";

const SPEC_PATH = "/openapi.json";
const API_PREFIX = "/api/v1/";
/** Either is sufficient. */
const CREDENTIALS = [{ bearer: [] }, { cookie: [] }];

/** Returns the paths of the routes of `service`. */
export async function readElysiaPaths(
  service: AnyElysia,
  schemas: SchemaCollector,
): Promise<OpenApiDocument["paths"]> {
  // A separate app that never listens: the plugin also has a page, which loads scripts from other servers.
  const reader = new Elysia()
    .use(swagger({ specPath: SPEC_PATH, excludeStaticFile: false }))
    .use(service)
    .use(wildcardRoutes(service))
    .use(otherPaths(service));
  const response = await reader.handle(new Request(`http://localhost${SPEC_PATH}`));
  const { paths } = (await response.json()) as OpenApiDocument;
  return completePaths(paths, schemas);
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
    ignoresCookie: looksPastCookie,
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
      ? {
          requestBody: withYaml(
            completeBody({ ...requestBody, content: jsonOnly(requestBody.content) }, schemas),
            yamlQuery && schemas,
          ),
        }
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
