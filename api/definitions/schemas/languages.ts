/** GET /languages and /languages/{id}: the languages that definitions are written in. */
import { Type } from "@sinclair/typebox";
import { LANGUAGE_VERSION } from "../../../shared/definitions/language/language.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { JsonSchema } from "../../../shared/json_schema.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";
import { operation, reply } from "../../http/operation.ts";
import { Count, data, listOf, oneOf, Text } from "../../http/schemas.ts";
import { languageSchemaOf, schemaUrlOf } from "./language_schemas.ts";

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
    status: "active" as const,
  };
});

function titleOf(type: DefinitionType): string {
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}

const [EXAMPLE] = LANGUAGE_LIST;
const FIELDS = {
  id: oneOf(LANGUAGE_LIST.map(({ id }) => id)),
  displayName: Text,
  abbreviation: Text,
  description: Text,
  definitionType: oneOf(DEFINITION_TYPES),
  currentVersion: Text,
  status: oneOf(["active"]),
};
const Language = Type.Object(FIELDS, { title: "Language", examples: [EXAMPLE] });
const LanguageWithSchema = Type.Object(
  {
    ...FIELDS,
    schema: Type.Object({
      version: Text,
      title: Text,
      schemaUrl: Type.String({ format: "uri" }),
      content: Type.Unsafe<JsonSchema>({
        type: "object",
        additionalProperties: true,
        description: "JSON Schema 2020-12 of the documents, as at `schemaUrl`",
      }),
    }),
  },
  {
    title: "LanguageWithSchema",
    examples: [
      {
        ...EXAMPLE,
        schema: {
          version: LANGUAGE_VERSION,
          title: "Agent definition",
          schemaUrl: "https://ulr.example.com/schemas/agent.json",
          content: { $schema: "https://json-schema.org/draft/2020-12/schema", title: "Agent definition" },
        },
      },
    ],
  },
);

const READ = { method: "GET", access: "public", tag: "Definitions", conditional: true } as const;

export const listLanguages = operation(
  {
    ...READ,
    id: "listLanguages",
    path: "/api/v1/languages",
    summary: "List the definition languages",
    description: "One language for each type of definition.",
    response: { 200: data({ languages: listOf(Language), total: Count }, "All languages") },
  },
  async () => reply(200, { data: { languages: LANGUAGE_LIST, total: LANGUAGE_LIST.length } }),
);

export const getLanguage = operation(
  {
    ...READ,
    id: "getLanguage",
    path: "/api/v1/languages/{id}",
    summary: "Get a definition language with its JSON Schema",
    description: "The schema accepts what the service accepts, as `/schemas/{type}.json` says.",
    params: { id: Type.String({ description: "Id of the language", examples: ["adl"] }) },
    response: { 200: Type.Object({ data: LanguageWithSchema }, { description: "The language" }) },
    fails: [["NOT_FOUND", { reason: "language" }]],
  },
  async ({ params }, { config }) => {
    const language = LANGUAGE_LIST.find(({ id }) => id === params.id);
    if (!language) throw unknownLanguage(params.id);
    const content = languageSchemaOf(config, language.definitionType);
    const schemaUrl = schemaUrlOf(config, language.definitionType);
    const schema = { version: LANGUAGE_VERSION, title: String(content["title"]), schemaUrl, content };
    return reply(200, { data: { ...language, schema } });
  },
);

function unknownLanguage(id: string): ApiError {
  const ids = LANGUAGE_LIST.map((language) => language.id);
  return new ApiError("NOT_FOUND", {
    message: TEXTS.NOT_FOUND.language({ id, ids }),
    details: { reason: "language" },
  });
}
