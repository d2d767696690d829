/** TypeBox schemas that several routes use. */
import { Type } from "@sinclair/typebox";

export const NullableText = Type.Union([Type.String(), Type.Null()]);
export const NullableInstant = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

/**
 * One of a list of words. `Unsafe` keeps the type, which a union of a mapped list loses; `t.UnionEnum` would default to
 * the first word.
 */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  return Type.Unsafe<Word>(Type.Union(words.map((word) => Type.Literal(word))));
}
