/** Checks a body against its route's schema. */
import { type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import type { CheckBody } from "./route.ts";
import { requireValid } from "./validation_problems.ts";

/** The body of a route that takes none. */
export const NO_FIELDS = Type.Object({}, { additionalProperties: false });

/**
 * Makes the check. Throws for a schema that leaves open what a body may hold: an object that takes unknown fields, or a
 * list without a maximum length.
 */
export function createBodyCheck(schema: TSchema): CheckBody {
  requireBounds(schema, "body");
  let check: TypeCheck<TSchema> | undefined;
  return (body) => {
    check ??= TypeCompiler.Compile(schema);
    requireValid(check, body);
  };
}

function requireBounds(schema: TSchema, place: string): void {
  // A misspelled field would be ignored, and the rest of the body written.
  if (schema["type"] === "object" && schema["additionalProperties"] !== false) {
    throw new Error(`Cannot check a body: the schema of ${place} needs additionalProperties: false`);
  }
  if (schema["type"] === "array" && schema["maxItems"] === undefined) {
    throw new Error(`Cannot check a body: the schema of ${place} needs maxItems`);
  }
  const members: Record<string, TSchema> = schema["properties"] ?? {};
  for (const [name, member] of Object.entries(members)) requireBounds(member, `${place}.${name}`);
  const parts: readonly TSchema[] = [schema["anyOf"] ?? [], schema["items"] ?? []].flat();
  for (const part of parts) requireBounds(part, place);
}
