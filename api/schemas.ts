/** TypeBox schemas that more than one route uses. */
import { Type } from "@sinclair/typebox";
import { ERRORS, type ErrorCode } from "../shared/errors.ts";

const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** Every refusal and failure has this form (contract section 2). */
export const ErrorEnvelope = Type.Object(
  {
    error: Type.Object({
      code: Type.Union(ERROR_CODES.map((code) => Type.Literal(code))),
      message: Type.String({ description: "One sentence a person can act on" }),
      requestId: Type.String({ description: "The X-Request-Id of the answer" }),
      details: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: "What a program may want to know, by code",
        }),
      ),
    }),
  },
  { title: "Error", description: "Every refusal and failure" },
);
