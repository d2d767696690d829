/** The schemas of errors: one for each code, so that a client that compares the code knows the details. */

import { ERRORS, type ErrorCode } from "../../shared/errors.ts";
import { type JsonSchema, named, record, TEXT, wordSchema } from "../../shared/json_schema.ts";

/** Such as `ExportTooLarge`. */
export function pascalCase(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/(?:^|[^a-z0-9]+)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function detailsSchema(code: ErrorCode): JsonSchema {
  const row = ERRORS[code];
  return "details" in row ? row.details : { type: "object", additionalProperties: true };
}

/** Such as `ExportTooLargeError`. */
function titleOf(code: ErrorCode): string {
  return `${pascalCase(code).replace(/Error$/, "")}Error`;
}

function errorSchema(code: ErrorCode): JsonSchema {
  return named(
    titleOf(code),
    record(
      {
        code: wordSchema([code]),
        message: TEXT,
        requestId: TEXT,
        details: detailsSchema(code),
      },
      ["details"],
    ),
  );
}

/** Describes the body of an error response with one of these codes. */
export function errorEnvelope(codes: readonly ErrorCode[]): JsonSchema {
  const [only, ...others] = codes;
  if (only && others.length === 0) return record({ error: errorSchema(only) });
  const mapping = codes.map((code) => [code, `#/components/schemas/${titleOf(code)}`]);
  return record({
    error: {
      oneOf: codes.map(errorSchema),
      discriminator: { propertyName: "code", mapping: Object.fromEntries(mapping) },
    },
  });
}
