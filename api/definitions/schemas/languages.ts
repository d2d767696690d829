/** GET /languages and /languages/{id}: the languages that definitions are written in. */
import { Elysia } from "elysia";
import { LANGUAGE_VERSION } from "../../../shared/definitions/language/language.ts";
import { ApiError } from "../../../shared/errors.ts";
import { COUNT, listOf, named, oneOf, record, TEXT } from "../../../shared/json_schema.ts";
import type { Config } from "../../../shared/process/config.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";
import { access } from "../../http/access.ts";
import { rejectQuery } from "../../http/query.ts";
import { conditionalJson } from "../../http/response/conditional_json.ts";
import { dataResponse, pathParameter } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { jsonSchemaOf } from "./json_schema.ts";
import { schemaUrlOf } from "./language_schemas.ts";

const DESCRIPTIONS: Readonly<Record<DefinitionType, string>> = {
  agent: "Describes an agent: what it is for, what it knows, and how it works and reports.",
  command: "Describes a command: its arguments, its checks, and the agents that it calls.",
  workflow: "Describes a workflow: commands and agents in phases, with gates between them.",
  pipeline: "Describes a pipeline: workflows, commands and agents in stages, with approvals and triggers.",
};

const LANGUAGE_LIST = DEFINITION_TYPES.map((type) => {
  const abbreviation = `${type.charAt(0).toUpperCase()}DL`;
  return {
    id: abbreviation.toLowerCase(),
    displayName: `${titleOf(type)} Definition Language`,
    abbreviation,
    description: DESCRIPTIONS[type],
    definitionType: type,
    currentVersion: LANGUAGE_VERSION,
    status: "active",
  };
});

function titleOf(type: DefinitionType): string {
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}

const FIELDS = {
  id: oneOf(LANGUAGE_LIST.map(({ id }) => id)),
  displayName: TEXT,
  abbreviation: TEXT,
  description: TEXT,
  definitionType: oneOf(DEFINITION_TYPES),
  currentVersion: TEXT,
  status: oneOf(["active"]),
};
const SCHEMA = record({
  version: TEXT,
  title: TEXT,
  schemaUrl: { type: "string", format: "uri" },
  content: {
    type: "object",
    additionalProperties: true,
    description: "JSON Schema 2020-12 of the documents, as at `schemaUrl`",
  },
});
const [EXAMPLE] = LANGUAGE_LIST;
const EXAMPLE_SCHEMA = {
  version: LANGUAGE_VERSION,
  title: "Agent definition",
  schemaUrl: "https://ulr.example.com/schemas/agent.json",
  content: { $schema: "https://json-schema.org/draft/2020-12/schema", title: "Agent definition" },
};

export function languageRoutes({ config }: { config: Pick<Config, "publicUrl"> }) {
  const languages = LANGUAGE_LIST.map((language) => {
    const schemaUrl = schemaUrlOf(config, language.definitionType);
    const content = jsonSchemaOf(language.definitionType, schemaUrl);
    const schema = { version: LANGUAGE_VERSION, title: content["title"], schemaUrl, content };
    return { ...language, schema };
  });
  return new Elysia({ prefix: "/languages" })
    .use(access)
    .get(
      "/",
      ({ request }) => {
        rejectQuery(request);
        const data = { languages: LANGUAGE_LIST, total: LANGUAGE_LIST.length };
        return conditionalJson(request, { data });
      },
      {
        publicAccess: true,
        detail: describe({
          tags: ["Definitions"],
          operationId: "listLanguages",
          summary: "List the definition languages",
          description: "One language for each type of definition.",
          responses: {
            200: dataResponse(
              "All languages",
              record({ languages: listOf(named("Language", record(FIELDS))), total: COUNT }),
              { languages: [EXAMPLE], total: 1 },
            ),
          },
        }),
      },
    )
    .get(
      "/:id",
      ({ request, params }) => {
        rejectQuery(request);
        const data = languages.find(({ id }) => id === params.id);
        if (!data) throw unknownLanguage(params.id);
        return conditionalJson(request, { data });
      },
      {
        publicAccess: true,
        detail: describe({
          tags: ["Definitions"],
          operationId: "getLanguage",
          summary: "Get a definition language with its JSON Schema",
          description: "The schema accepts what the service accepts, as `/schemas/{type}.json` says.",
          parameters: [pathParameter("id", "Id of the language", "adl")],
          responses: {
            200: dataResponse(
              "The language",
              named("LanguageWithSchema", record({ ...FIELDS, schema: SCHEMA })),
              { ...EXAMPLE, schema: EXAMPLE_SCHEMA },
            ),
          },
          ...failsWith(["NOT_FOUND", { reason: "language" }]),
        }),
      },
    );
}

function unknownLanguage(id: string): ApiError {
  const ids = LANGUAGE_LIST.map((language) => language.id).join(", ");
  return new ApiError("NOT_FOUND", {
    message: `Language "${id}" not found. The languages are ${ids}.`,
    details: { reason: "language" },
  });
}
