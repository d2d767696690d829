/** GET /schemas/{type}.json: the JSON Schema of a type's documents. */
import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../shared/errors.ts";
import type { JsonSchema } from "../../../shared/json_schema.ts";
import type { Config } from "../../../shared/process/config.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";
import { operation, reply } from "../../http/operation.ts";
import { jsonSchemaOf } from "./json_schema.ts";

const CONTENT_TYPE = "application/schema+json";
const EXAMPLE = { $schema: "https://json-schema.org/draft/2020-12/schema", title: "Agent definition" };

export function schemaUrlOf({ publicUrl }: Pick<Config, "publicUrl">, type: DefinitionType): string {
  return `${publicUrl}/schemas/${type}.json`;
}

/** By URL: a schema takes a tenth of a second. */
const MADE = new Map<string, JsonSchema>();

export function languageSchemaOf(config: Pick<Config, "publicUrl">, type: DefinitionType): JsonSchema {
  const url = schemaUrlOf(config, type);
  const schema = MADE.get(url) ?? jsonSchemaOf(type, url);
  MADE.set(url, schema);
  return schema;
}

export const getDefinitionSchema = operation(
  {
    id: "getDefinitionSchema",
    method: "GET",
    path: "/schemas/{file}",
    access: "public",
    tag: "Definitions",
    summary: "Get the JSON Schema of a definition type",
    description:
      "JSON Schema 2020-12. It describes every key, and accepts what the service accepts, except for references, repeated tags, and limits that no schema can express: size, depth, number of nodes, repeated keys and aliases. Values that the service only warns about are valid.",
    params: {
      // Another file is not found, rather than an invalid parameter.
      file: Type.String({
        enum: DEFINITION_TYPES.map((type) => `${type}.json`),
        description: "The type, and .json",
        examples: ["agent.json"],
      }),
    },
    response: {
      200: {
        description: "The schema",
        files: { [CONTENT_TYPE]: { type: "object", additionalProperties: true, examples: [EXAMPLE] } },
      },
    },
    conditional: true,
    fails: [["NOT_FOUND", { reason: "route" }]],
  },
  async ({ params: { file } }, { config }) => {
    const type = DEFINITION_TYPES.find((type) => file === `${type}.json`);
    if (!type) throw new ApiError("NOT_FOUND", { details: { reason: "route" } });
    const text = `${JSON.stringify(languageSchemaOf(config, type), null, 2)}\n`;
    return reply(200, text, { headers: { "Content-Type": CONTENT_TYPE } });
  },
);
