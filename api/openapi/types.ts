/** Types of the OpenAPI document. Shared parts are replaced by references, which have only a `$ref`. */
import type { JsonSchema } from "../../shared/schemas.ts";
import type { Method } from "../http/operation.ts";

export type OpenApiMethod = Lowercase<Method>;

export interface OpenApiMedia {
  schema?: unknown;
  example?: unknown;
  examples?: Readonly<Record<string, { value?: unknown }>>;
}

export interface OpenApiHeader {
  description?: string;
  /** Whether every response of this kind has the header. */
  required?: true;
  schema?: unknown;
}

export interface OpenApiResponse {
  description?: string;
  headers?: Readonly<Record<string, OpenApiHeader>>;
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

export interface OpenApiOperation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: readonly string[];
  parameters?: readonly OpenApiParameter[];
  requestBody?: { required?: boolean; content: Record<string, OpenApiMedia> };
  responses?: Record<string, OpenApiResponse>;
  security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export type OpenApiPath = Partial<Record<OpenApiMethod, OpenApiOperation>>;

export interface OpenApiDocument {
  openapi: string;
  tags: readonly object[];
  /** Default for operations without their own `security`. */
  security: NonNullable<OpenApiOperation["security"]>;
  paths: Record<string, OpenApiPath>;
  /** Requests that the service sends. */
  webhooks: Record<string, OpenApiPath>;
  components: Record<"headers" | "parameters" | "responses" | "examples", Record<string, object>> & {
    schemas: Record<string, JsonSchema>;
  };
}
