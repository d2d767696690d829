/**
 * Checks a body against its route's schema before Elysia does. Elysia formats the whole invalid value into its error,
 * which takes seconds for a small but deep value, so it sees only valid bodies.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { describeSchemaErrors } from "../validation_problems.ts";
import type { JsonObject } from "./request_body.ts";

/** The body of a route that takes none. */
export const NO_FIELDS = Type.Object({}, { additionalProperties: false });

/** Throws VALIDATION_ERROR. */
export type CheckBody = (body: JsonObject) => void;

/**
 * Makes the check. Throws for a schema that leaves open what a body may hold: an object that takes unknown fields, a
 * list without a greatest length, or a number that may be text.
 */
export function createBodyCheck(schema: TSchema): CheckBody {
  requireBounds(schema, "body");
  let check: TypeCheck<TSchema> | undefined;
  return (body) => {
    check ??= TypeCompiler.Compile(schema);
    if (!check.Check(body)) throw describeSchemaErrors(check.Errors(body));
  };
}

const NUMBER_FORMATS: ReadonlySet<string> = new Set(["integer", "numeric"]);

function requireBounds(schema: TSchema, place: string): void {
  // A misspelled field would be ignored, and the rest of the body written.
  if (schema["type"] === "object" && schema["additionalProperties"] !== false) {
    throw new Error(`Cannot check a body: the schema of ${place} needs additionalProperties: false`);
  }
  if (schema["type"] === "array" && schema["maxItems"] === undefined) {
    throw new Error(`Cannot check a body: the schema of ${place} needs maxItems`);
  }
  // Elysia's `t.Integer` takes "1", for queries. It also reports a wrong number as a wrong union.
  if (schema["type"] === "string" && NUMBER_FORMATS.has(schema["format"] ?? "")) {
    throw new Error(
      `Cannot check a body: ${place} would accept text for a number; use Type.Integer of TypeBox`,
    );
  }
  const members: Record<string, TSchema> = schema["properties"] ?? {};
  for (const [name, member] of Object.entries(members)) requireBounds(member, `${place}.${name}`);
  const parts: readonly TSchema[] = [schema["anyOf"] ?? [], schema["items"] ?? []].flat();
  for (const part of parts) requireBounds(part, place);
}
