/** Types of the OpenAPI document. */
import type { JsonSchema } from "../../shared/schemas.ts";

export type OpenApiMethod = "get" | "post" | "put" | "patch" | "delete";

/** Refers to a component; nothing else is set then. */
interface Referable {
  $ref?: string;
}

interface OpenApiExample extends Referable {
  value?: unknown;
}

export interface OpenApiMedia {
  schema?: unknown;
  example?: unknown;
  examples?: Readonly<Record<string, OpenApiExample>>;
}

export interface OpenApiHeader extends Referable {
  description?: string;
  /** Every such response has it. */
  required?: true;
  schema?: unknown;
}

export interface OpenApiResponse extends Referable {
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
  /** References once they are shared. */
  parameters?: readonly OpenApiParameter[];
  requestBody?: { required?: boolean; content: Record<string, OpenApiMedia> };
  responses?: Record<string, OpenApiResponse>;
  security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export type OpenApiPath = Partial<Record<OpenApiMethod, OpenApiOperation>>;

export interface OpenApiDocument {
  openapi: string;
  tags: readonly object[];
  /** For operations without a `security` of their own. */
  security: NonNullable<OpenApiOperation["security"]>;
  paths: Record<string, OpenApiPath>;
  /** Requests that the service sends. */
  webhooks: Record<string, OpenApiPath>;
  components: {
    schemas: Record<string, JsonSchema>;
    headers: Record<string, OpenApiHeader>;
    parameters: Record<string, OpenApiParameter>;
    responses: Record<string, OpenApiResponse>;
    examples: Record<string, OpenApiExample>;
  };
}
