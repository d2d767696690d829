/** Reads the fields of `interface` that the registry stores in columns. Missing fields get a default. */
import { countCharacters, isLongerThan } from "../characters.ts";
import {
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  type DefinitionAgentType,
  type DefinitionDomain,
} from "../vocabulary.ts";
import { quoteValue } from "../yaml/problems.ts";
import { scalarText } from "../yaml/scalars.ts";

export interface DefinitionFields {
  displayName: string;
  /** The description; empty if it is missing. The definition then cannot be translated. */
  description: string;
  domain: DefinitionDomain;
  subdomain: string | null;
  agentType: DefinitionAgentType | null;
  tags: string[];
  author: string | null;
}

export const MAX_TAGS = 50;

/** The maximum number of characters of the fields that lists show. The limit of `tags` applies to all tags together. */
export const MAX_LENGTHS = {
  displayName: 200,
  description: 4_000,
  subdomain: 1_000,
  author: 1_000,
  tags: 4_000,
} as const;

/** Returns an error message if the text is too long for the field; null otherwise. */
export function tooLong(key: string, text: string): string | null {
  const limit = (MAX_LENGTHS as Readonly<Record<string, number>>)[key];
  if (limit === undefined || !isLongerThan(text, limit)) return null;
  const subject = key === "tags" ? "The tags together have" : `${key} has`;
  return `${subject} ${countCharacters(text)} characters; the maximum is ${limit}.`;
}

/**
 * Reads the fields. A missing value, or a list or map in place of a text, gets the default. Adds problems for values that are not
 * allowed, texts that are too long, and too many tags. `isNew` adds limits that documents stored earlier may exceed.
 */
export function readFields(
  declared: Record<string, unknown>,
  options: { name: string; isNew: boolean; addProblem: (key: string, message: string) => void },
): DefinitionFields {
  const { name, isNew, addProblem } = options;
  const oneOf = <Word extends string>(key: string, words: readonly Word[]): Word | null => {
    const value = declared[key] ?? null;
    const known = words.find((word) => word === value) ?? null;
    if (value !== null && known === null)
      addProblem(key, `${quoteValue(value)} is not allowed. Use one of: ${words.join(", ")}.`);
    return known;
  };
  const rejectLong = (key: string, text: string | null) => {
    const message = text === null ? null : tooLong(key, text);
    if (message !== null) addProblem(key, message);
  };
  const bounded = (key: string, isBounded = true) => {
    const text = scalarText(declared[key]);
    if (isBounded) rejectLong(key, text);
    return text;
  };
  const tags = readTags(declared["tags"], (message) => addProblem("tags", message));
  if (isNew) rejectLong("tags", tags.join(""));
  return {
    displayName: bounded("displayName") ?? titleCase(name),
    description: bounded("description") ?? "",
    domain: oneOf("domain", DEFINITION_DOMAINS) ?? "general",
    subdomain: bounded("subdomain", isNew),
    agentType: oneOf("agentType", DEFINITION_AGENT_TYPES),
    tags,
    author: bounded("author", isNew),
  };
}

/** Converts a name to a title: `code-reviewer` to `Code Reviewer`. */
export function titleCase(name: string): string {
  const words = name.split("-").filter((word) => word !== "");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
}

/** Reads a list of tags, or a text with commas. Returns each trimmed tag once. */
function readTags(value: unknown, addProblem: (message: string) => void): string[] {
  const items = Array.isArray(value) ? value : (scalarText(value) ?? "").split(",");
  const texts = items.map((item) => scalarText(item)?.trim() ?? "");
  const tags = [...new Set(texts)].filter((tag) => tag !== "");
  if (tags.length > MAX_TAGS) addProblem(`There are ${tags.length} tags; the maximum is ${MAX_TAGS}.`);
  return tags;
}
