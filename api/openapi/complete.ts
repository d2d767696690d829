/** Completes the parts of an operation in the OpenAPI document: parameters, body and responses. */
import type { JsonSchema } from "../../shared/json_schema.ts";
import { describeQuery, type Query } from "../http/query.ts";
import type { SchemaCollector } from "./schemas.ts";
import type {
  OpenApiMedia,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiReference,
  OpenApiResponse,
} from "./types.ts";

export function completeParameter(
  parameter: OpenApiParameter | OpenApiReference,
  schemas: SchemaCollector,
): OpenApiParameter | OpenApiReference {
  if ("$ref" in parameter) return parameter;
  return withSchema(withoutPrefill(parameter), schemas);
}

/**
 * Moves the default of an optional query parameter or header into its description, and drops its example. Swagger UI
 * prefills and sends both: every try would carry a cutoff of the past, or a range beyond the end of the file.
 */
function withoutPrefill(parameter: OpenApiParameter): OpenApiParameter {
  if (parameter.in === "path" || parameter.required) return parameter;
  const { example: _, ...rest } = parameter;
  const { default: unset, ...schema } = (parameter.schema ?? {}) as JsonSchema;
  if (unset === undefined) return rest;
  const description = `${parameter.description?.replace(/\.$/, "")}. Default: \`${unset}\`.`;
  return { ...rest, description, schema };
}

export function withSchema<Holder extends { schema?: unknown }>(
  holder: Holder,
  schemas: SchemaCollector,
): Holder {
  return holder.schema === undefined ? holder : { ...holder, schema: schemas.add(holder.schema) };
}

export function completeBody(
  body: NonNullable<OpenApiOperation["requestBody"]>,
  schemas: SchemaCollector,
): NonNullable<OpenApiOperation["requestBody"]> {
  const { content } = body;
  // No body is the same as {}: it is required if one of its fields is.
  const required = Object.values(content).some(
    ({ schema }) => ((schema as JsonSchema | undefined)?.["required"] as unknown[] | undefined)?.length,
  );
  return {
    ...body,
    required,
    content: mapValues(content, (media) => withSchema(withOwnExample(media), schemas)),
  };
}

/** Uses a schema's first example as the body's example, with which Swagger UI prefills the request. */
function withOwnExample(media: OpenApiMedia): OpenApiMedia {
  const { examples: [example] = [] } = (media.schema ?? {}) as { examples?: readonly unknown[] };
  return example === undefined ? media : { ...media, example };
}

const YAML_BODY = {
  title: "YamlBody",
  type: "string",
  description: "The field `yaml` of the JSON body. The other fields are query parameters then.",
};

/** Adds the body that is the YAML itself, where it is accepted. */
export function withYaml(
  body: NonNullable<OpenApiOperation["requestBody"]>,
  schemas: SchemaCollector | null,
): NonNullable<OpenApiOperation["requestBody"]> {
  if (!schemas) return body;
  const schema = schemas.add(YAML_BODY);
  return { ...body, content: { ...body.content, "application/yaml": { schema } } };
}

export function withYamlParameters(
  parameters: OpenApiOperation["parameters"],
  yamlQuery: Query | null,
): OpenApiOperation["parameters"] {
  if (!yamlQuery) return parameters;
  const described = describeQuery(yamlQuery) as OpenApiParameter[];
  const forYaml = described.map((parameter) => ({
    ...parameter,
    description: `${parameter.description}. Only with a YAML body`,
  }));
  return [...(parameters ?? []), ...forYaml];
}

export function completeResponse(
  { content, headers = {}, ...response }: OpenApiResponse,
  common: Record<string, object>,
  schemas: SchemaCollector,
): OpenApiResponse {
  return {
    ...response,
    headers: { ...common, ...headers },
    ...(content ? { content: mapValues(content, (media) => withSchema(media, schemas)) } : {}),
  };
}

export function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  map: (value: In) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
