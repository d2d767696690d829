/** The JSON Schema of each language, made from its table of keys. */
import { parse } from "yaml";
import { MAX_LENGTHS, MAX_TAGS } from "../../shared/definitions/interface_fields.ts";
import { exampleOfKey, type Key } from "../../shared/definitions/language/keys.ts";
import { LANGUAGES } from "../../shared/definitions/language/language.ts";
import { MAX_DEFINITION_NAME_LENGTH, NAME } from "../../shared/definitions/name.ts";
import { MAX_VERSION_LENGTH, VERSION } from "../../shared/definitions/versions.ts";
import {
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_TYPES,
  type DefinitionType,
} from "../../shared/vocabulary.ts";

type Schema = Readonly<Record<string, unknown>>;

const UUID = "^[\\da-fA-F]{8}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{12}$";
const TAG = { anyOf: [{ type: ["number", "boolean"] }, { type: "string", pattern: "\\S" }] };

/** What the service refuses in an `interface`. Everything else is accepted, and at most a warning. */
const REFUSED: Readonly<Record<string, Schema>> = {
  name: {
    type: "string",
    pattern: NAME.source,
    maxLength: MAX_DEFINITION_NAME_LENGTH,
    not: { pattern: UUID },
  },
  version: { type: "string", pattern: VERSION.source, maxLength: MAX_VERSION_LENGTH },
  displayName: { maxLength: MAX_LENGTHS["displayName"] },
  description: { maxLength: MAX_LENGTHS["description"] },
  domain: { enum: [...DEFINITION_DOMAINS, null] },
  agentType: { enum: [...DEFINITION_AGENT_TYPES, null] },
  tags: {
    contains: TAG,
    minContains: 0,
    maxContains: MAX_TAGS,
    pattern: `^(?:[\\s,]*[^\\s,][^,]*(?:,|$)){0,${MAX_TAGS}}[\\s,]*$`,
  },
};

/** Returns the schema of a type's documents: it accepts what the service accepts, and describes every key. */
export function jsonSchemaOf(type: DefinitionType, id: string): Schema {
  const others = DEFINITION_TYPES.filter((other) => other !== type);
  const body = describe(LANGUAGES[type]);
  const { interface: declared, ...blocks } = body["properties"] as Record<string, Schema>;
  const known = declared?.["properties"] as Record<string, Schema>;
  const properties = { ...known };
  for (const [key, refused] of Object.entries(REFUSED)) properties[key] = { ...known[key], ...refused };
  const strict = { ...declared, type: "object", required: ["name", "version"], properties };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: id,
    title: `${type.charAt(0).toUpperCase()}${type.slice(1)} definition`,
    type: "object",
    required: [type],
    properties: {
      [type]: {
        ...body,
        type: "object",
        required: ["interface"],
        properties: { interface: strict, ...blocks },
      },
    },
    not: { anyOf: others.map((other) => ({ required: [other] })) },
  };
}

/** Annotations only: a value of another kind is a warning of the service, and valid. */
function describe(key: Key): Schema {
  const { kind, meaning, item, keys, words } = key;
  const names = kind === "word" ? ` One of: ${words.join(", ")}.` : "";
  const inner = item === null ? null : describe(item);
  return {
    ...(meaning === "" ? {} : { description: `${meaning}.${names}`, examples: [parse(exampleOfKey(key))] }),
    ...(inner !== null && kind === "list" ? { items: inner } : {}),
    ...(inner !== null && kind === "names" ? { additionalProperties: inner } : {}),
    ...(Object.keys(keys).length === 0
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(keys).map(([name, value]) => [name, describe(value)]),
          ),
        }),
  };
}
