/** Types of the OpenAPI document. */
import type { JsonSchema } from "../../shared/json_schema.ts";

export const OPENAPI_METHODS = ["get", "post", "put", "patch", "delete"] as const;
export type OpenApiMethod = (typeof OPENAPI_METHODS)[number];

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
