/** Types of the OpenAPI document, and helpers for the `detail` of a route. */
import type { DocumentDecoration } from "elysia";
import type { ErrorCode } from "../../shared/errors.ts";
import type { JsonSchema } from "../../shared/json_schema.ts";
import type {
  ACCESS_FIELD,
  Access,
  NOT_COUNTED_FIELD,
  PAST_COOKIE_FIELD,
  READS_FIELD,
  SECRET_FIELD,
} from "../http/access.ts";
import type { YAML_FIELD } from "../http/body/yaml_body.ts";
import type { Query } from "../http/query.ts";

/** The field of `detail` in which a route lists its own errors, in addition to the common ones. */
export const FAILURES_FIELD = "x-failures";
export const OPENAPI_METHODS = ["get", "post", "put", "patch", "delete"] as const;
export type OpenApiMethod = (typeof OPENAPI_METHODS)[number];

/** The field in which a route lists further paths at which the document describes it. */
export const OTHER_PATHS_FIELD = "x-other-paths";

/**
 * A path at which the document describes a route, and the parts of `detail` that differ there. A parameter with an ending is
 * written in braces: `/:type/{name}.md`.
 */
export interface OtherPath {
  path: string;
  detail: object;
}

/** Describes a route at other paths, too. Goes into the route's `detail`. */
export function alsoAt(paths: readonly OtherPath[]): object {
  return { [OTHER_PATHS_FIELD]: paths };
}

/** A code, with example `details` if they differ from the default example. */
export type Failure = ErrorCode | readonly [ErrorCode, Readonly<Record<string, unknown>>];

/**
 * Declares the errors of a route: `detail: { summary: "…", ...failsWith("PROJECT_NOT_FOUND") }`. A code can have the
 * `details` of its example: `failsWith(["NOT_FOUND", { reason: "user" }])`.
 */
export function failsWith(...failures: readonly Failure[]): object {
  return { [FAILURES_FIELD]: failures };
}

/** Casts a 3.1 description to Elysia's type, which supports OpenAPI 3.0 only. */
export function describe(detail: object): DocumentDecoration {
  return detail as DocumentDecoration;
}

export interface OpenApiExample {
  value?: unknown;
  /** Refers to an example of `components`; nothing else is set then. */
  $ref?: string;
}

export interface OpenApiMedia {
  schema?: unknown;
  example?: unknown;
  examples?: Readonly<Record<string, OpenApiExample>>;
}

export interface OpenApiResponse {
  /** Refers to a response of `components`; nothing else is set then. */
  $ref?: string;
  description?: string;
  headers?: Readonly<Record<string, object>>;
  content?: Record<string, OpenApiMedia>;
  /** Written by the plugin; not part of OpenAPI. */
  examples?: readonly unknown[];
}

export interface OpenApiParameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: unknown;
}

/** Refers to a parameter of `components`. */
export interface OpenApiReference {
  $ref: string;
}

export interface OpenApiOperation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: readonly string[];
  parameters?: readonly (OpenApiParameter | OpenApiReference)[];
  requestBody?: { required?: boolean; content: Record<string, OpenApiMedia> };
  responses?: Record<string, OpenApiResponse>;
  security?: readonly Record<string, readonly string[]>[];
}

/** An operation as the plugin returns it, with the fields that access.ts and `failsWith` add to `detail`. */
export interface DeclaredOperation extends OpenApiOperation {
  [ACCESS_FIELD]?: Access;
  [PAST_COOKIE_FIELD]?: true;
  [NOT_COUNTED_FIELD]?: true;
  [READS_FIELD]?: true;
  [YAML_FIELD]?: Query;
  [SECRET_FIELD]?: true;
  [FAILURES_FIELD]?: readonly Failure[];
  [OTHER_PATHS_FIELD]?: readonly OtherPath[];
  /** Whether the document leaves out the route's own path. */
  hide?: boolean;
}

export type OpenApiPath = Partial<Record<OpenApiMethod, OpenApiOperation>>;

export interface OpenApiDocument {
  openapi: string;
  tags: readonly object[];
  paths: Record<string, OpenApiPath>;
  /** Requests that the service sends. */
  webhooks: Record<string, OpenApiPath>;
  components: {
    schemas: Record<string, JsonSchema>;
    parameters: Readonly<Record<string, OpenApiParameter>>;
    responses: Record<string, OpenApiResponse>;
    examples: Record<string, OpenApiExample>;
  };
}
