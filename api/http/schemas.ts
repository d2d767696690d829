/** TypeBox schemas that several routes use. */
import { Type } from "@sinclair/typebox";
import { ERRORS, type ErrorCode } from "../../shared/errors.ts";

const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

export const NullableText = Type.Union([Type.String(), Type.Null()]);
export const NullableInstant = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

/**
 * One of a list of words. `Unsafe` keeps the type, which a union of a mapped list loses; `t.UnionEnum` would default to
 * the first word.
 */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  return Type.Unsafe<Word>(Type.Union(words.map((word) => Type.Literal(word))));
}

/** The form of every error (docs/contract.md, Errors). */
export const ErrorEnvelope = Type.Object(
  {
    error: Type.Object({
      code: Type.Union(
        ERROR_CODES.map((code) => Type.Literal(code)),
        { title: "ErrorCode" },
      ),
      message: Type.String({ description: "What is wrong and what to do, in English" }),
      requestId: Type.String({ description: "The X-Request-Id of the response" }),
      details: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: "Values for programs; the fields depend on the code",
        }),
      ),
    }),
  },
  { title: "Error", description: "The form of every error" },
);
