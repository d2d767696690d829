/** Finds and describes the problems of an invalid query, body or path. */
import { type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { isLongerThan, shorten } from "../../shared/characters.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { suggestNames } from "../../shared/suggestions.ts";

/** One problem and its path, such as `format` or `contributors.0.role`; an empty path means the whole value. */
export interface Problem {
  path: string;
  message: string;
}

/** Limits on the request data in an error response: the number of problems and the length of a path. */
const MAX_PROBLEMS = 50;
const MAX_PATH_LENGTH = 200;

/** Returns VALIDATION_ERROR with the first 50 problems in `details.errors`. The message has the first problem. */
export function invalidInput(value: readonly Problem[]): ApiError {
  const problems = value.slice(0, MAX_PROBLEMS).map(withShortPath);
  const [first] = problems;
  return new ApiError("VALIDATION_ERROR", {
    ...(first ? { message: TEXTS.VALIDATION_ERROR.problem(first) } : {}),
    details: { errors: problems },
  });
}

/** Like `invalidInput`, with one problem. */
export function invalidField(path: string, message: string): ApiError {
  return invalidInput([{ path, message }]);
}

function withShortPath(problem: Problem): Problem {
  return { ...problem, path: shorten(problem.path, MAX_PATH_LENGTH) };
}

/** Throws VALIDATION_ERROR if there are problems. */
export function rejectProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw invalidInput(problems);
}

/**
 * Creates a function that lists the problems of a value: one per path, and at most `max`. The schema is compiled with the first
 * value, because a process has hundreds of schemas and uses few.
 */
export function createSchemaCheck(schema: TSchema, max = MAX_PROBLEMS): (value: unknown) => Problem[] {
  let check: TypeCheck<TSchema> | undefined;
  return (value) => {
    check ??= TypeCompiler.Compile(schema);
    return check.Check(value) ? [] : listProblems(check.Errors(value), max);
  };
}

/** Stops reading `errors` once it has enough problems. */
function listProblems(errors: Iterable<ValueError>, max: number): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of errors) {
    for (const found of withinNullable(error).filter(isProblem)) {
      const path = found.path.slice(1).replaceAll("/", ".");
      if (!problems.has(path)) problems.set(path, { path, message: explain(found) });
    }
    // After this error, there is one error for each excess element.
    if (problems.size >= max || error.type === ValueErrorType.ArrayMaxItems) break;
  }
  return [...problems.values()].slice(0, max).map(withShortPath);
}

/** Returns false if a text is too long only because TypeBox counts an emoji as two characters. */
function isProblem({ type, schema, value }: ValueError): boolean {
  return type !== ValueErrorType.StringMaxLength || isLongerThan(String(value), schema["maxLength"]);
}

/** Returns the errors of a nullable schema's other branch, which the union's error does not include. */
function withinNullable(error: ValueError): readonly ValueError[] {
  const branches: readonly TSchema[] = error.schema["anyOf"] ?? [];
  const [index = -1, ...others] = branches.flatMap((branch, at) => (branch["type"] === "null" ? [] : [at]));
  if (index < 0 || others.length > 0) return [error];
  // For a union, `errors` has the errors of each branch.
  const inner = [...(error.errors[index] ?? [])].flatMap(withinNullable);
  return inner.length > 0 ? inner : [error];
}

/** Messages for the schema rules that clients break most often. */
const RULES: Partial<Record<ValueErrorType, (schema: TSchema) => string>> = {
  [ValueErrorType.Array]: () => "must be a list",
  [ValueErrorType.ArrayMaxItems]: ({ maxItems }) => `must have at most ${maxItems} items`,
  [ValueErrorType.ArrayMinItems]: ({ minItems }) =>
    `must have at least ${minItems} item${minItems === 1 ? "" : "s"}`,
  [ValueErrorType.Boolean]: () => "must be true or false",
  [ValueErrorType.Integer]: () => "must be a whole number",
  [ValueErrorType.IntegerMaximum]: ({ maximum }) => `must be at most ${maximum}`,
  [ValueErrorType.IntegerMinimum]: ({ minimum }) => `must be at least ${minimum}`,
  [ValueErrorType.Number]: () => "must be a number",
  [ValueErrorType.NumberMaximum]: ({ maximum }) => `must be at most ${maximum}`,
  [ValueErrorType.NumberMinimum]: ({ minimum }) => `must be at least ${minimum}`,
  [ValueErrorType.Object]: () => "must be an object",
  [ValueErrorType.String]: () => "must be a string",
  [ValueErrorType.StringMaxLength]: ({ maxLength }) => `must have at most ${maxLength} characters`,
  [ValueErrorType.StringMinLength]: ({ minLength }) =>
    minLength === 1 ? "must not be empty" : `must have at least ${minLength} characters`,
};

function explain({ type, schema, path, message }: ValueError): string {
  if (type === ValueErrorType.ObjectAdditionalProperties) return unknownField(nameAt(path), fieldsOf(schema));
  if (type === ValueErrorType.ObjectRequiredProperty) return "is required";
  const words = allowedWords(schema);
  if (words.length > 0) return `must be ${words.length > 1 ? "one of " : ""}${words.join(", ")}`;
  return RULES[type]?.(schema) ?? `is not valid: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** Returns a problem for each unknown field of a body. */
export function findUnknownFields(body: object, known: readonly string[]): Problem[] {
  return Object.keys(body)
    .filter((name) => !known.includes(name))
    .slice(0, MAX_PROBLEMS)
    .map((path) => ({ path, message: unknownField(path, known) }));
}

function unknownField(name: string, known: readonly string[]): string {
  const [similar] = suggestNames(name, known);
  if (similar !== undefined) return `is not a known field. Did you mean "${similar}"?`;
  if (known.length === 0) return "is not a known field. This endpoint takes no fields";
  return `is not a known field. The fields are ${known.join(", ")}`;
}

function nameAt(pointer: string): string {
  return (pointer.split("/").at(-1) ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Returns the names of an object's fields that are not deprecated. */
function fieldsOf(schema: TSchema): string[] {
  const fields: Readonly<Record<string, TSchema>> = schema["properties"] ?? {};
  return Object.keys(fields).filter((name) => !fields[name]?.["deprecated"]);
}

/** Returns the literals that a schema allows, including those in unions and arrays; empty if it allows other values. */
function allowedWords(schema: TSchema): string[] {
  if ("const" in schema) return [String(schema["const"])];
  if (Array.isArray(schema["enum"])) return schema["enum"].map(String);
  if (!Array.isArray(schema["anyOf"])) return [];
  const branches = (schema["anyOf"] as TSchema[]).map((branch) =>
    allowedWords((branch["items"] as TSchema | undefined) ?? branch),
  );
  return branches.some((words) => words.length === 0) ? [] : [...new Set(branches.flat())];
}

/** The body schema of a route without a body. */
export const NO_FIELDS = Type.Object({}, { additionalProperties: false });

/** Creates the check of a body. Throws if the schema allows unknown fields or a list without a maximum length. */
export function createBodyCheck(schema: TSchema): (body: object) => void {
  requireBounds(schema, "body");
  const check = createSchemaCheck(schema);
  return (body) => rejectProblems(check(body));
}

function requireBounds(schema: TSchema, place: string): void {
  // Otherwise, a misspelled field would be ignored and the rest of the body written.
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
