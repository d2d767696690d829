/** Names of definitions. */
import { isUuid } from "../uuid.ts";
import type { DefinitionType } from "../vocabulary.ts";

/** The key of a line of definitions within an organization. */
export interface DefinitionName {
  type: DefinitionType;
  name: string;
}

export function nameKey({ type, name }: DefinitionName): string {
  return `${type} ${name}`;
}

export function distinctNames<Named extends DefinitionName>(named: readonly Named[]): Named[] {
  return [...new Map(named.map((one) => [nameKey(one), one])).values()];
}

export const MAX_DEFINITION_NAME_LENGTH = 100;

/** The rule for names, for messages such as `name ${NAME_RULE}`. */
export const NAME_RULE = `must be 1 to ${MAX_DEFINITION_NAME_LENGTH} characters of a-z, 0-9 and hyphens, without a hyphen at either end, and not a UUID`;

export const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Returns true for 1 to 100 characters of `a-z`, `0-9` and `-` without a hyphen at either end. A UUID is an id, not a name. */
export function isDefinitionName(text: string): boolean {
  return text.length <= MAX_DEFINITION_NAME_LENGTH && NAME.test(text) && !isUuid(text);
}

/** Returns true for a name that starts with a letter. The names of forks and successors must start with one. */
export function isLetterFirstName(text: string): boolean {
  return /^[a-z]/.test(text) && isDefinitionName(text);
}
