/** TypeBox schemas that several routes of definitions use. */
import { t } from "elysia";

/** One of the words of a closed list; `t.UnionEnum` would put the first one in where there is none. */
export function oneOf<Word extends string>(words: readonly Word[]) {
  return t.Union(words.map((word) => t.Literal(word)));
}

/** Unknown keys are ignored (contract section 5); Elysia would refuse them. */
export const OPEN = { additionalProperties: true };
