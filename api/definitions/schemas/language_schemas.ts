/** GET /schemas/{type}.json: the JSON Schema of a type's documents. */
import { Elysia } from "elysia";
import { ApiError } from "../../../shared/errors.ts";
import type { JsonSchema } from "../../../shared/json_schema.ts";
import type { Config } from "../../../shared/process/config.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";
import { access } from "../../http/access.ts";
import { rejectQuery } from "../../http/query.ts";
import { staticResponse, toStaticFile } from "../../http/response/static_file.ts";
import { pathParameter } from "../../openapi/responses.ts";
import { failsWith } from "../../openapi/types.ts";
import { jsonSchemaOf } from "./json_schema.ts";

const CONTENT_TYPE = "application/schema+json";

/** Returns the address of the JSON Schema of a type. */
export function schemaUrlOf({ publicUrl }: Pick<Config, "publicUrl">, type: DefinitionType): string {
  return `${publicUrl}/schemas/${type}.json`;
}

/** By URL: a schema takes a tenth of a second. */
const MADE = new Map<string, JsonSchema>();

/** Returns the JSON Schema of a type. */
export function languageSchemaOf(config: Pick<Config, "publicUrl">, type: DefinitionType): JsonSchema {
  const url = schemaUrlOf(config, type);
  const schema = MADE.get(url) ?? jsonSchemaOf(type, url);
  MADE.set(url, schema);
  return schema;
}

export function languageSchemaRoutes({ config }: { config: Pick<Config, "publicUrl"> }) {
  const files = new Map(
    DEFINITION_TYPES.map((type) => {
      const schema = languageSchemaOf(config, type);
      const bytes = new TextEncoder().encode(`${JSON.stringify(schema, null, 2)}\n`);
      return [`${type}.json`, toStaticFile(bytes, CONTENT_TYPE)];
    }),
  );
  return new Elysia().use(access).get(
    "/schemas/:file",
    ({ request, params }) => {
      rejectQuery(request);
      const file = files.get(params.file);
      if (!file) throw new ApiError("NOT_FOUND", { details: { reason: "route" } });
      return staticResponse(request, file);
    },
    {
      publicAccess: true,
      detail: {
        tags: ["Definitions"],
        operationId: "getDefinitionSchema",
        summary: "Get the JSON Schema of a definition type",
        description:
          "JSON Schema 2020-12. It describes every key, and accepts what the service accepts, except for references, repeated tags, and limits that no schema can express: size, depth, number of nodes, repeated keys and aliases. Values that the service only warns about are valid.",
        parameters: [
          pathParameter("file", "The type, and .json", "agent.json", {
            type: "string",
            enum: DEFINITION_TYPES.map((type) => `${type}.json`),
          }),
        ],
        responses: {
          200: {
            description: "The schema",
            content: {
              [CONTENT_TYPE]: {
                schema: { type: "object", additionalProperties: true },
                example: {
                  $schema: "https://json-schema.org/draft/2020-12/schema",
                  title: "Agent definition",
                },
              },
            },
          },
          304: { description: "The client has it already" },
        },
        ...failsWith("VALIDATION_ERROR", ["NOT_FOUND", { reason: "route" }]),
      },
    },
  );
}
