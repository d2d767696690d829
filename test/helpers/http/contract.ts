/** Checks responses against the OpenAPI document: status, content type, headers and all fields of JSON. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Memoirist } from "memoirist";
import type { App } from "../../../api/app.ts";
import type { OpenApiDocument, OpenApiMethod, OpenApiResponse } from "../../../api/openapi/types.ts";
import { withInlineComponents } from "./openapi.ts";

const JSON_TYPE = "application/json";
/**
 * The headers of all responses, and the headers of all responses under `/api/v1`. The document describes both only
 * once, not for each response.
 */
const COMMON_HEADERS = ["X-Request-Id"];
const API_HEADERS = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
];
/** The id under which Ajv resolves the references between the document's schemas. */
const DOCUMENT_ID = "openapi";

type Json = { readonly [key: string]: unknown };

export interface Contract {
  /**
   * Returns the problem with a response. Returns null if the response is correct, or if the document does not describe
   * the route.
   */
  check(request: { method: string; path: string }, response: Response): Promise<string | null>;
  /** Validates a value against the schema at this path in the document. Returns the problems, or null. */
  validate(place: readonly string[], value: unknown): string | null;
}

interface Contracts {
  document: OpenApiDocument;
  paths: ReadonlyMap<string, string>;
  validate: Contract["validate"];
}

/** The document, read once per process because all apps of the service have the same document. */
let contracts: Promise<Contracts> | undefined;

async function readContracts(app: App): Promise<Contracts> {
  const response = await app.handle(new Request("http://localhost/swagger/json"), "192.0.2.254");
  const document = withInlineComponents((await response.json()) as OpenApiDocument);
  const paths = new Map(Object.keys(document.paths).map((path) => [withoutNames(path), path]));
  return { document, paths, validate: createValidate(document) };
}

/** Opens the contract for an app and its routes. */
export async function openContract(app: App): Promise<Contract> {
  contracts ??= readContracts(app);
  const { document, paths, validate } = await contracts;
  const router = new Memoirist<string>();
  for (const { method, pattern } of app.routes) router.add(method, pattern, pattern);
  return {
    validate,
    async check({ method, path }, response) {
      const found = findOperation({ document, paths, router }, { method, path });
      if (!found) return null;
      const form = findForm(document, found, response) ?? found;
      const problem = await checkResponse(form, { method, response, validate });
      return problem && `${method} ${form.path} answered ${response.status}: ${problem}`;
    },
  };
}

interface Operation {
  path: string;
  method: OpenApiMethod;
  responses: Readonly<Record<string, OpenApiResponse>>;
}

function findOperation(
  { document, paths, router }: Omit<Contracts, "validate"> & { router: Memoirist<string> },
  request: { method: string; path: string },
): Operation | null {
  const match = router.find(request.method === "HEAD" ? "GET" : request.method, request.path);
  const path = match && (paths.get(withoutNames(match.store)) ?? findPath(document, request.path));
  if (!path) return null;
  // The service's routes use only methods that OpenAPI supports.
  const method = (request.method === "HEAD" ? "GET" : request.method).toLowerCase() as OpenApiMethod;
  const { responses } = document.paths[path]?.[method] ?? {};
  return responses ? { path, method, responses } : null;
}

/** Returns the documented path that matches a request, for a route that the document describes at several paths. */
function findPath(document: OpenApiDocument, path: string): string | undefined {
  const { pathname } = new URL(path, "http://localhost");
  return Object.keys(document.paths).find((described) => {
    const pattern = described.replaceAll(/\{\w+\}/g, "[^/]+").replaceAll(".", "\\.");
    return new RegExp(`^${pattern}/?$`).test(pathname);
  });
}

/**
 * Returns the operation that documents the response's format, such as `.csv`, even if the request selected the format
 * with `format` or `Accept`. Returns null if no separate operation documents it.
 */
function findForm(
  document: OpenApiDocument,
  { path, method }: Operation,
  response: Response,
): Operation | null {
  const type = mediaTypeOf(response);
  const contentAt = (key: string) =>
    document.paths[key]?.[method]?.responses?.[response.status]?.content ?? {};
  if (type in contentAt(path)) return null;
  const form = Object.keys(document.paths).find(
    (key) => key.startsWith(`${path}.`) && type in contentAt(key),
  );
  const responses = form && document.paths[form]?.[method]?.responses;
  return responses ? { path: form, method, responses } : null;
}

function mediaTypeOf(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
}

/** Removes parameter names, so that `/a/:b/*` and `/a/{b}/{c}` are equal. */
function withoutNames(path: string): string {
  return path.replaceAll(/:\w+|\{\w+\}|\*/g, "{}");
}

async function checkResponse(
  { path, method: key, responses }: Operation,
  given: { method: string; response: Response; validate: Contract["validate"] },
): Promise<string | null> {
  const { method, response, validate } = given;
  const described = responses[response.status];
  if (!described) return "the status is not documented";
  const common = path.startsWith("/api/v1/") ? [...COMMON_HEADERS, ...API_HEADERS] : COMMON_HEADERS;
  const missing = [...common, ...requiredHeaders(described)].filter((name) => !response.headers.has(name));
  if (missing.length > 0) return `it lacks the headers ${missing.join(", ")}`;
  if (method === "HEAD" || !described.content) return null;
  const type = mediaTypeOf(response);
  if (!described.content[type]) return `the content type "${type}" is not documented`;
  if (type !== JSON_TYPE) return null;
  const place = ["paths", path, key, "responses", String(response.status), "content", type, "schema"];
  return validate(place, await response.clone().json());
}

function requiredHeaders({ headers = {} }: OpenApiResponse): string[] {
  return Object.keys(headers).filter((name) => headers[name]?.required);
}

function createValidate(document: OpenApiDocument): Contract["validate"] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  addFormats(ajv);
  ajv.addSchema(closed(document) as Json, DOCUMENT_ID);
  /**
   * Validators by pointer and by schema text. Many operations have the same error schemas, and compiling a schema takes
   * as long as a request.
   */
  const compiled = new Map<string, ValidateFunction>();
  const compile = (place: readonly string[], pointer: string): ValidateFunction => {
    const text = JSON.stringify(place.reduce<unknown>((node, part) => (node as Json)[part], document));
    const validate = compiled.get(text) ?? ajv.compile({ $ref: `${DOCUMENT_ID}#/${pointer}` });
    compiled.set(text, validate).set(pointer, validate);
    return validate;
  };
  return (place, value) => {
    const pointer = place
      .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
      .join("/");
    const validate = compiled.get(pointer) ?? compile(place, pointer);
    if (validate(value)) return null;
    const problems = (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [instancePath || "the body", message, JSON.stringify(params)].join(" "),
    );
    return problems.join("; ");
  };
}

/**
 * Returns the document with all objects closed to unknown fields unless a schema allows them. Clients must accept
 * unknown fields, but the document must describe every field that the service sends.
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !["example", "examples"].includes(name))
      .map(([name, inner]) => [name, name === "allOf" ? inner : closed(inner)]),
  );
  const isOpen = "properties" in copy && "type" in copy && !("additionalProperties" in copy);
  return isOpen ? { ...copy, unevaluatedProperties: false } : copy;
}
