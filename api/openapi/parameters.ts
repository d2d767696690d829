/** Describes the parameters of operations in the OpenAPI document. */
import type { TProperties } from "@sinclair/typebox";
import { type JsonSchema, Text } from "../../shared/schemas.ts";
import type { AnyOperation } from "../http/operation.ts";
import type { Query } from "../http/query.ts";
import { API_PREFIX } from "../http/route.ts";
import type { OpenApiParameter } from "./types.ts";

const ORG_SLUG: OpenApiParameter = {
  name: "X-Org-Slug",
  in: "header",
  description:
    "The organization to use, which you must be a member of. Default: the organization of the key. Without one, reads " +
    "of definitions search everything you can see, writes to a definition use the only organization where you can " +
    "change it, and everything else uses your personal organization",
  example: "demo",
  schema: Text,
};

const IF_NONE_MATCH: OpenApiParameter = {
  name: "If-None-Match",
  in: "header",
  description:
    "The `ETag` of an earlier response. The response is 304, without a body, if nothing has changed",
  schema: Text,
};

const IDEMPOTENCY_KEY: OpenApiParameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "1 to 128 printable ASCII characters that you choose for this request. If you lose the response, repeat the request " +
    "with the same key within 24 hours: you get the same response with `Idempotency-Replayed: true`, and nothing is " +
    "written twice",
  schema: Text,
};

export function isApiPath(path: string): boolean {
  return path.startsWith(`${API_PREFIX}/`);
}

/** Returns whether an operation accepts an idempotency key. */
export function isRepeatable({ path, method }: AnyOperation): boolean {
  return isApiPath(path) && method === "POST";
}

export function describeParameters(operation: AnyOperation): OpenApiParameter[] {
  const { params = {}, uncheckedQuery = {}, query = uncheckedQuery, requestHeaders = {} } = operation;
  // A documented form of the path may replace a parameter with a literal.
  const inPath = Object.entries(params as TProperties)
    .filter(([name]) => operation.path.includes(`${name}}`))
    .map(([name, { description, examples, ...schema }]) => {
      const [example] = examples as readonly unknown[];
      return { name, in: "path" as const, required: true, description, example, schema } as OpenApiParameter;
    });
  const headers = Object.entries(requestHeaders as Record<string, string>);
  return [
    ...inPath,
    ...(operation.usesOrg ? [ORG_SLUG] : []),
    ...inQuery(query),
    ...inQuery(operation.yamlQuery ?? {}, ". Only with a YAML body"),
    ...headers.map(([name, description]) => ({ name, in: "header" as const, description, schema: Text })),
    ...(operation.conditional ? [IF_NONE_MATCH] : []),
    ...(isRepeatable(operation) ? [IDEMPOTENCY_KEY] : []),
  ];
}

function inQuery(query: Query, remark = ""): OpenApiParameter[] {
  return Object.entries(query).map(([name, { read: _, ...described }]) =>
    withoutPrefill({ name, in: "query", ...described, description: described.description + remark }),
  );
}

/**
 * Moves the default of an optional parameter into its description and drops its example. Swagger UI prefills and sends both, so
 * every try would send a cutoff in the past.
 */
function withoutPrefill(parameter: OpenApiParameter): OpenApiParameter {
  if (parameter.required) return parameter;
  const { example: _, ...rest } = parameter;
  const { default: unset, ...schema } = parameter.schema as JsonSchema;
  if (unset === undefined) return rest;
  const description = `${parameter.description?.replace(/\.$/, "")}. Default: \`${unset}\`.`;
  return { ...rest, description, schema };
}
