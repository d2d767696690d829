/** GET /languages, /languages/{id} and /schemas/{type}.json: the definition languages and their JSON Schemas. */
import { Type } from "@sinclair/typebox";
import { parse } from "yaml";
import { MAX_LENGTHS, MAX_TAGS, titleCase } from "../../shared/definitions/interface_fields.ts";
import { exampleOfKey, type Key } from "../../shared/definitions/language/keys.ts";
import { LANGUAGE_VERSION, LANGUAGES } from "../../shared/definitions/language/language.ts";
import { MAX_DEFINITION_NAME_LENGTH, NAME } from "../../shared/definitions/name.ts";
import { MAX_VERSION_LENGTH, VERSION } from "../../shared/definitions/version_numbers.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import type { Config } from "../../shared/process/config.ts";
import type { JsonSchema } from "../../shared/schemas.ts";
import { Count, data, dataOf, listOf, oneOf, Text } from "../../shared/schemas.ts";
import {
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_TYPES,
  type DefinitionType,
} from "../../shared/vocabulary.ts";
import { operation, reply } from "../http/operation.ts";
import { notFound } from "../http/require_visible.ts";

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
    displayName: `${titleCase(type)} Definition Language`,
    abbreviation,
    description: DESCRIPTIONS[type],
    definitionType: type,
    currentVersion: LANGUAGE_VERSION,
    status: "active" as const,
  };
});

const [EXAMPLE] = LANGUAGE_LIST;
const FIELDS = {
  id: oneOf(LANGUAGE_LIST.map(({ id }) => id)),
  displayName: Text,
  abbreviation: Text,
  description: Text,
  definitionType: oneOf(DEFINITION_TYPES),
  currentVersion: Text,
  status: Type.Literal("active"),
};
const EXAMPLE_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Agent definition",
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
          content: EXAMPLE_SCHEMA,
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

/** JSON Schemas by URL. Building one takes a tenth of a second. */
const MADE = new Map<string, JsonSchema>();

function languageSchemaOf({ publicUrl }: Pick<Config, "publicUrl">, type: DefinitionType) {
  const schemaUrl = `${publicUrl}/schemas/${type}.json`;
  const content = MADE.get(schemaUrl) ?? jsonSchemaOf(type, schemaUrl);
  MADE.set(schemaUrl, content);
  return { schemaUrl, content };
}

export const getLanguage = operation(
  {
    ...READ,
    id: "getLanguage",
    path: "/api/v1/languages/{id}",
    summary: "Get a definition language with its JSON Schema",
    description: "The schema accepts what the service accepts, as `/schemas/{type}.json` says.",
    params: { id: Type.String({ description: "Id of the language", examples: ["adl"] }) },
    response: { 200: dataOf(LanguageWithSchema, "The language") },
    fails: [["NOT_FOUND", { reason: "language" }]],
  },
  async ({ params }, { config }) => {
    const language = LANGUAGE_LIST.find(({ id }) => id === params.id);
    if (!language) {
      const ids = LANGUAGE_LIST.map(({ id }) => id);
      throw notFound("language", TEXTS.NOT_FOUND.language({ id: params.id, ids }));
    }
    const { schemaUrl, content } = languageSchemaOf(config, language.definitionType);
    const schema = { version: LANGUAGE_VERSION, title: String(content["title"]), schemaUrl, content };
    return reply(200, { data: { ...language, schema } });
  },
);

const SCHEMA_TYPE = "application/schema+json";

export const getDefinitionSchema = operation(
  {
    ...READ,
    id: "getDefinitionSchema",
    path: "/schemas/{file}",
    summary: "Get the JSON Schema of a definition type",
    description:
      "JSON Schema 2020-12. It describes every key, and accepts what the service accepts, except for references, repeated tags, and limits that no schema can express: size, depth, number of nodes, repeated keys and aliases. Values that the service only warns about are valid.",
    params: {
      // Any other file name gets 404, not a validation error.
      file: Type.String({
        enum: DEFINITION_TYPES.map((type) => `${type}.json`),
        description: "The type, and .json",
        examples: ["agent.json"],
      }),
    },
    response: {
      200: {
        description: "The schema",
        files: { [SCHEMA_TYPE]: { type: "object", additionalProperties: true, examples: [EXAMPLE_SCHEMA] } },
      },
    },
    fails: [["NOT_FOUND", { reason: "route" }]],
  },
  async ({ params: { file } }, { config }) => {
    const type = DEFINITION_TYPES.find((type) => file === `${type}.json`);
    if (!type) throw notFound("route");
    const text = `${JSON.stringify(languageSchemaOf(config, type).content, null, 2)}\n`;
    return reply(200, text, { headers: { "Content-Type": SCHEMA_TYPE } });
  },
);

const UUID = "^[\\da-fA-F]{8}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{12}$";
const TAG = { anyOf: [{ type: ["number", "boolean"] }, { type: "string", pattern: "\\S" }] };

/** Constraints that the service enforces on `interface`. Other deviations cause at most a warning. */
const REFUSED: Readonly<Record<string, JsonSchema>> = {
  name: {
    type: "string",
    pattern: NAME.source,
    maxLength: MAX_DEFINITION_NAME_LENGTH,
    not: { pattern: UUID },
  },
  version: { type: "string", pattern: VERSION.source, maxLength: MAX_VERSION_LENGTH },
  displayName: { maxLength: MAX_LENGTHS.displayName },
  description: { maxLength: MAX_LENGTHS.description },
  subdomain: { maxLength: MAX_LENGTHS.subdomain },
  author: { maxLength: MAX_LENGTHS.author },
  domain: { enum: [...DEFINITION_DOMAINS, null] },
  agentType: { enum: [...DEFINITION_AGENT_TYPES, null] },
  tags: {
    contains: TAG,
    minContains: 0,
    maxContains: MAX_TAGS,
    pattern: `^(?:[\\s,]*[^\\s,][^,]*(?:,|$)){0,${MAX_TAGS}}[\\s,]*$`,
  },
};

/** Returns the JSON Schema of a definition type. It covers the service's rules as far as a schema can, and describes every key. */
export function jsonSchemaOf(type: DefinitionType, id: string): JsonSchema {
  const others = DEFINITION_TYPES.filter((other) => other !== type);
  const body = describe(LANGUAGES[type]);
  const { interface: declared, ...blocks } = body["properties"] as Record<string, JsonSchema>;
  const known = declared?.["properties"] as Record<string, JsonSchema>;
  const properties = { ...known };
  for (const [key, refused] of Object.entries(REFUSED)) properties[key] = { ...known[key], ...refused };
  const strict = { ...declared, type: "object", required: ["name", "version"], properties };
  const inside = { interface: strict, ...blocks };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: id,
    title: `${titleCase(type)} definition`,
    type: "object",
    required: [type],
    properties: { [type]: { ...body, type: "object", required: ["interface"], properties: inside } },
    not: { anyOf: others.map((other) => ({ required: [other] })) },
  };
}

/** Describes a key with annotations only, because a value of another kind is valid and causes only a warning. */
function describe(key: Key): JsonSchema {
  const { kind, meaning, item, keys, words } = key;
  const names = kind === "word" ? ` One of: ${words.join(", ")}.` : "";
  const inner = item === null ? null : describe(item);
  const properties = Object.entries(keys).map(([name, value]) => [name, describe(value)]);
  return {
    ...(meaning === "" ? {} : { description: `${meaning}.${names}`, examples: [parse(exampleOfKey(key))] }),
    ...(inner !== null && kind === "list" ? { items: inner } : {}),
    ...(inner !== null && kind === "names" ? { additionalProperties: inner } : {}),
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
  };
}
