/** The OpenAPI document: what the swagger plugin reads from the routes, put right and completed. */
import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import { ERRORS, type ErrorCode } from "../shared/errors.ts";
import { ACCESS_FIELD, type Access } from "./access.ts";
import { canonicalPath, type RegisteredRoute } from "./route_table.ts";
import { ErrorEnvelope } from "./schemas.ts";
import { SESSION_COOKIE } from "./session_cookie.ts";

/** Where a route lists the codes it can fail with, besides those every route can. */
const FAILURES_FIELD = "x-failures";
/** Of 3.1, a schema is plain JSON Schema; the plugin says 3.0, whose schemas know no type "null". */
const OPENAPI_VERSION = "3.1.0";
const SPEC_PATH = "/openapi.json";
const HTTP_METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** Goes into a route's `detail`: `detail: { summary: "…", ...failsWith("PROJECT_NOT_FOUND") }`. */
export function failsWith(...codes: readonly ErrorCode[]): object {
  return { [FAILURES_FIELD]: codes };
}

/** Elysia's type of a description knows OpenAPI 3.0 only; the document is 3.1, where a schema is JSON Schema. */
export function describe(detail: object): DocumentDecoration {
  return detail as DocumentDecoration;
}

export interface OpenApiResponse {
  description?: string;
  content?: Record<string, object>;
  /** Where the plugin puts the examples of a schema, and OpenAPI knows none. */
  examples?: readonly unknown[];
}

export interface OpenApiOperation {
  [ACCESS_FIELD]?: Access;
  [FAILURES_FIELD]?: readonly ErrorCode[];
  requestBody?: { content: Record<string, object> };
  responses?: Record<string, OpenApiResponse>;
  security?: readonly Record<string, readonly string[]>[];
}

export type OpenApiPath = Partial<Record<(typeof HTTP_METHODS)[number], OpenApiOperation>>;

export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, OpenApiPath>;
}

const INFO = {
  title: "Tracker data export, definitions and models",
  version: "1.0.0",
  description:
    "Exports of tracker data, a registry of definitions, and a model catalogue. Errors have one form; " +
    "every answer carries X-Request-Id and, under /api/v1, X-RateLimit-Limit, -Remaining and -Reset.",
};

const SECURITY_SCHEMES = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "An API key (`ulr_…`) or a session token (`uls_…`)",
  },
  cookie: {
    type: "apiKey",
    in: "cookie",
    name: SESSION_COOKIE,
    description:
      "The session of a browser, where there is no Authorization header. Writes have to come from a page of this " +
      "service, else they are FORBIDDEN_ORIGIN",
  },
} as const;

/** Either of them will do. */
const CREDENTIALS = [{ bearer: [] }, { cookie: [] }];

/** What any route can answer, whatever it does. */
const COMMON_FAILURES: readonly ErrorCode[] = [
  "VALIDATION_ERROR",
  "UNAUTHORIZED",
  "RATE_LIMITED",
  "INTERNAL_SERVER_ERROR",
  "SERVICE_UNAVAILABLE",
];

/** Describes the routes of `api`, which is not changed. */
export async function buildOpenApi(api: AnyElysia): Promise<OpenApiDocument> {
  // An app of its own, which never listens: of the plugin's two routes the page fetches from foreign servers.
  const reader = new Elysia()
    .use(
      swagger({
        specPath: SPEC_PATH,
        excludeStaticFile: false,
        documentation: {
          info: INFO,
          servers: [{ url: "/", description: "This service" }],
          components: { securitySchemes: SECURITY_SCHEMES },
        },
      }),
    )
    .use(api)
    .use(wildcardRoutes(api));
  const response = await reader.handle(new Request(`http://localhost${SPEC_PATH}`));
  // The plugin's own shape, of which the paths alone matter here.
  const document = (await response.json()) as OpenApiDocument;
  return { ...document, openapi: OPENAPI_VERSION, paths: completePaths(document.paths) };
}

/**
 * Stand-ins for routes that end in `*`, which the plugin leaves out and OpenAPI has no word for: the rest of the path
 * gets the name of the path's last parameter in the route's description.
 */
function wildcardRoutes(api: AnyElysia): AnyElysia {
  const named = new Elysia();
  const registered: readonly RegisteredRoute[] = api.routes;
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

function completePaths(paths: OpenApiDocument["paths"]): OpenApiDocument["paths"] {
  const complete: OpenApiDocument["paths"] = {};
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of HTTP_METHODS) {
      const operation = operations[method];
      if (operation) operations[method] = completeOperation(operation);
    }
    // The plugin leaves a parameter that does not begin its segment as it is (`/@:orgSlug`), and the slash of a
    // builder's own path, which no client has to write.
    complete[canonicalPath(path.replaceAll(/:(\w+)/g, "{$1}"))] = operations;
  }
  return complete;
}

function completeOperation(operation: OpenApiOperation): OpenApiOperation {
  const { requestBody, responses = {} } = operation;
  const isPublic = operation[ACCESS_FIELD] === "public";
  return {
    ...operation,
    ...(requestBody ? { requestBody: { ...requestBody, content: jsonOnly(requestBody.content) } } : {}),
    responses: { ...failureResponses(operation), ...described(responses) },
    security: isPublic ? [{}, ...CREDENTIALS] : CREDENTIALS,
  };
}

/** The plugin lists forms and plain text beside JSON; a content type that a route chose itself stays. */
function jsonOnly(content: Record<string, object>): Record<string, object> {
  const json = content["application/json"];
  return json === undefined ? content : { "application/json": json };
}

/** OpenAPI wants a description on every response. */
function described(responses: Record<string, OpenApiResponse>): Record<string, OpenApiResponse> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { examples = [], content, ...response }]) => [
      status,
      {
        ...response,
        description: response.description ?? "Done",
        ...(content ? { content: withExample(jsonOnly(content), examples) } : {}),
      },
    ]),
  );
}

function withExample(content: Record<string, object>, [example]: readonly unknown[]): Record<string, object> {
  if (example === undefined) return content;
  return Object.fromEntries(Object.entries(content).map(([type, media]) => [type, { ...media, example }]));
}

/** One response a status, naming its codes. */
function failureResponses(operation: OpenApiOperation): Record<string, OpenApiResponse> {
  const codes = [...COMMON_FAILURES, ...(operation[FAILURES_FIELD] ?? [])];
  const responses: Record<string, OpenApiResponse> = {};
  for (const code of codes) {
    const { status, message } = ERRORS[code];
    const known = responses[status]?.description;
    responses[status] = {
      description: `${known ? `${known}; ` : ""}\`${code}\`: ${message}`,
      content: { "application/json": { schema: ErrorEnvelope } },
    };
  }
  return responses;
}
