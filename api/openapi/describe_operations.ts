/** Builds the paths of the OpenAPI document from the operations. */
import type { TSchema } from "@sinclair/typebox";
import { type JsonSchema, Text } from "../../shared/schemas.ts";
import type { AnyOperation, Content, DocumentedForm, Files } from "../http/operation.ts";
import { failureResponses } from "./failures.ts";
import { describeParameters, isApiPath } from "./parameters.ts";
import { mapValues } from "./schemas.ts";
import type {
  OpenApiDocument,
  OpenApiMedia,
  OpenApiMethod,
  OpenApiOperation,
  OpenApiPath,
  OpenApiResponse,
} from "./types.ts";

const ETAG = { description: "Strong; changes when the content does", schema: Text };
const NOT_MODIFIED: OpenApiResponse = { description: "Not modified: the ETag in `If-None-Match` is current" };
/** Either credential is sufficient. Only operations with other rules have their own `security`. */
export const CREDENTIALS = [{ bearer: [] }, { cookie: [] }];

export function describeOperations(operations: readonly AnyOperation[]): OpenApiDocument["paths"] {
  const paths: Record<string, OpenApiPath> = {};
  for (const operation of operations.flatMap(listForms)) {
    const path = operation.path.replace("{+", "{");
    const method = operation.method.toLowerCase() as OpenApiMethod;
    paths[path] = { ...paths[path], [method]: describeOperation(operation) };
  }
  return paths;
}

function listForms({ documentedAs, ...operation }: AnyOperation): AnyOperation[] {
  return documentedAs ? documentedAs.map((form: DocumentedForm) => ({ ...operation, ...form })) : [operation];
}

function describeOperation(operation: AnyOperation): OpenApiOperation {
  const { id, path, access, tag, summary, description } = operation;
  const isApi = isApiPath(path);
  const parameters = describeParameters(operation);
  const requestBody = describeBody(operation);
  const responses = { ...failureResponses(operation), ...describeResponses(operation) };
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses,
    ...(isApi ? (access === "public" ? { security: [{}, ...CREDENTIALS] } : {}) : { security: [] }),
  };
}

const YAML_BODY = {
  title: "YamlBody",
  type: "string",
  description: "The field `yaml` of the JSON body. The other fields are query parameters then.",
};

/** Returns the request body. Its example, the first of the schema, prefills the request in Swagger UI. */
function describeBody(operation: AnyOperation): OpenApiOperation["requestBody"] {
  const schema: JsonSchema | undefined = operation.body ?? operation.uncheckedBody;
  if (!schema) return undefined;
  const { required = [], examples = [] } = schema as { required?: unknown[]; examples?: unknown[] };
  const [example] = examples;
  return {
    // A missing body equals {}, so the body is required only if one of its fields is.
    required: required.length > 0,
    content: {
      "application/json": { schema, ...(example === undefined ? {} : { example }) },
      ...(operation.yamlQuery ? { "application/yaml": { schema: YAML_BODY } } : {}),
    },
  };
}

function describeResponses(operation: AnyOperation): Record<string, OpenApiResponse> {
  const { response, responseHeaders, conditional } = operation;
  const headers = { ...responseHeaders, ...(conditional ? { ETag: ETAG } : {}) };
  const declared = mapValues(response as Record<string, Content>, (content) => ({
    ...describeContent(content),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
  }));
  return { ...declared, ...(conditional ? { 304: NOT_MODIFIED } : {}) };
}

function describeContent(content: Content): OpenApiResponse {
  if (content === null) return { description: "Done" };
  if ("json" in content) return describeJson(content.json as TSchema, content.description);
  if (!("files" in content)) return describeJson(content);
  // Only `Files` has a member `files`: a schema keeps its fields in `properties`.
  const { description, files } = content as Files;
  return { description, content: mapValues(files, describeFile) };
}

function describeFile(options: string | null | JsonSchema): OpenApiMedia {
  if (options !== null && typeof options === "object") return { schema: options };
  return { schema: { type: "string" }, ...(options === null ? {} : { example: options }) };
}

/** Returns a JSON response. The description of an untitled schema moves to the response. */
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
 * Returns the first of a schema's examples, or builds one from its parts: an object of the fields that are required or have
 * examples, a list of one item, or the first of several words or schemas. Throws for a text without an example.
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
