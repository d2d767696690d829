/** The paths of the OpenAPI document, made from the operations. */
import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { type JsonSchema, TEXT } from "../../shared/json_schema.ts";
import { maxBodyBytes } from "../http/body/request_body.ts";
import type { AnyOperation, Content, DocumentedForm, Files } from "../http/operation.ts";
import { describeQuery } from "../http/query.ts";
import { API_PREFIX } from "../http/route.ts";
import {
  completeBody,
  completeParameter,
  completeResponse,
  mapValues,
  withYaml,
  withYamlParameters,
} from "./complete.ts";
import { failureResponses } from "./failures.ts";
import { commonHeaders } from "./headers.ts";
import { IDEMPOTENCY_KEY, IF_NONE_MATCH, ORG_SLUG } from "./parameters.ts";
import type { SchemaCollector } from "./schemas.ts";
import type {
  OpenApiDocument,
  OpenApiMedia,
  OpenApiMethod,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiPath,
  OpenApiResponse,
} from "./types.ts";

const ETAG = { description: "Strong; changes when the content does", schema: Type.String() };
const NOT_MODIFIED = { description: "Not modified: the ETag in `If-None-Match` is current" };
/** Either is sufficient. */
const CREDENTIALS = [{ bearer: [] }, { cookie: [] }];

export function describeOperations(
  operations: readonly AnyOperation[],
  schemas: SchemaCollector,
): OpenApiDocument["paths"] {
  const paths: Record<string, OpenApiPath> = {};
  for (const operation of operations.flatMap(listForms)) {
    const path = operation.path.replace("{+", "{");
    const method = operation.method.toLowerCase() as OpenApiMethod;
    paths[path] = { ...paths[path], [method]: describeOperation(operation, schemas) };
  }
  return paths;
}

function listForms({ documentedAs, ...operation }: AnyOperation): AnyOperation[] {
  return documentedAs ? documentedAs.map((form: DocumentedForm) => ({ ...operation, ...form })) : [operation];
}

function describeOperation(operation: AnyOperation, schemas: SchemaCollector): OpenApiOperation {
  const {
    id,
    path,
    access,
    tag,
    summary,
    description,
    body = operation.uncheckedBody,
    fails = [],
  } = operation;
  const isApi = path.startsWith(`${API_PREFIX}/`);
  const parameters = parametersOf(operation).map((parameter) => completeParameter(parameter, schemas));
  const failures = failureResponses(
    {
      isApi,
      access,
      isCounted: !operation.unlimited,
      maxBodyBytes: operation.method === "GET" ? null : (operation.maxBodyBytes ?? maxBodyBytes(path)),
      writes: operation.method !== "GET" && !operation.reads,
      isRepeatable: isRepeatable(operation),
    },
    fails,
  );
  const content = { "application/json": { schema: body } };
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: withYaml(completeBody({ content }, schemas), operation.yamlQuery ? schemas : null) }
      : {}),
    responses: mapValues({ ...failures, ...responsesOf(operation) }, (response) =>
      completeResponse(response, commonHeaders(isApi), schemas),
    ),
    security: isApi ? [...(access === "public" ? [{}] : []), ...CREDENTIALS] : [],
  };
}

function isRepeatable({ path, method }: AnyOperation): boolean {
  return path.startsWith(`${API_PREFIX}/`) && method === "POST";
}

function parametersOf(operation: AnyOperation): NonNullable<OpenApiOperation["parameters"]> {
  const {
    params = {},
    uncheckedQuery = {},
    query = uncheckedQuery,
    yamlQuery = null,
    requestHeaders = {},
  } = operation;
  // A form of the path may spell a parameter out.
  const named = Object.entries(params as TProperties).filter(([name]) => operation.path.includes(`${name}}`));
  const inPath = named.map(([name, { description, examples, ...schema }]) => ({
    name,
    in: "path" as const,
    required: true,
    description,
    example: (examples as readonly unknown[])[0],
    schema,
  }));
  const headers = Object.entries(requestHeaders as Record<string, string>);
  const org = operation.usesOrg ? [ORG_SLUG] : [];
  const others = [...inPath, ...org, ...describeQuery(query)] as OpenApiParameter[];
  return [
    ...(withYamlParameters(others, yamlQuery) ?? []),
    ...headers.map(([name, description]) => ({ name, in: "header" as const, description, schema: TEXT })),
    ...(operation.conditional ? [IF_NONE_MATCH] : []),
    ...(isRepeatable(operation) ? [IDEMPOTENCY_KEY] : []),
  ];
}

function responsesOf({ response, responseHeaders = {}, conditional }: AnyOperation) {
  const headers = { ...responseHeaders, ...(conditional ? { ETag: ETAG } : {}) };
  const declared = mapValues(response as Record<string, Content>, (content) => ({
    ...describeContent(content),
    headers,
  }));
  return { ...declared, ...(conditional ? { 304: NOT_MODIFIED } : {}) };
}

function describeContent(content: Content): OpenApiResponse {
  if (content === null) return { description: "Done" };
  if ("json" in content) return describeJson(content.json as TSchema, content.description);
  if (!("files" in content)) return describeJson(content);
  // A schema with a property of this name has no member of this name.
  const { description, files } = content as Files;
  return { description, content: mapValues(files, describeFile) };
}

function describeFile(options: string | null | JsonSchema): OpenApiMedia {
  if (options !== null && typeof options === "object") return { schema: options };
  return { schema: { type: "string" }, ...(options === null ? {} : { example: options }) };
}

/** The description of an anonymous schema is that of the response. */
function describeJson(schema: TSchema, value?: string): OpenApiResponse {
  const { description = "Done", examples: _, ...anonymous } = schema;
  const example = exampleOf(schema as JsonSchema);
  const shown = schema.title === undefined ? anonymous : schema;
  return { description: value ?? description, content: { "application/json": { schema: shown, example } } };
}

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-11-20T10:00:00.000Z",
  date: "2026-11-19",
  uuid: "0b4f8f3e-7d2a-4c55-8f0e-2a1f6f1c9d10",
};

/**
 * Returns the first of a schema's examples; otherwise one that is made of its parts: an object of its required fields, a list
 * of one item, the first of several words or schemas. Throws for a text without an example.
 */
function exampleOf(schema: JsonSchema): unknown {
  const { examples, const: word, enum: words, anyOf, type, properties, items, format, minimum } = schema;
  const [first] = [examples ?? words ?? []].flat();
  if (first !== undefined) return first;
  if (word !== undefined) return word;
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0]);
  if (type === "object") return exampleOfFields(schema, (properties ?? {}) as Record<string, JsonSchema>);
  if (type === "array") return [exampleOf(items as JsonSchema)];
  if (type === "boolean") return false;
  if (type === "integer" || type === "number") return minimum ?? 0;
  const text = FORMATS[String(format)];
  if (text === undefined) throw new Error(`Cannot make an example: ${JSON.stringify(schema)} has none`);
  return text;
}

function exampleOfFields(schema: JsonSchema, fields: Readonly<Record<string, JsonSchema>>): object {
  const required = (schema["required"] ?? []) as readonly string[];
  const shown = Object.entries(fields).filter(
    ([name, field]) => required.includes(name) || "examples" in field,
  );
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field)]));
}
