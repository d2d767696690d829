/** Declares query parameters. The parser and the OpenAPI description of a parameter both follow from its declaration. */
import { Type } from "@sinclair/typebox";
import { isLongerThan } from "../../shared/characters.ts";
import { parseInstant } from "../../shared/instant.ts";
import { Instant, type JsonSchema, listOf, oneOf, Uuid } from "../../shared/schemas.ts";
import { isUuid } from "../../shared/uuid.ts";
import { type Problem, rejectProblems } from "./validation_problems.ts";

const MAX_OFFSET = 2_147_483_647;

/** Reports an invalid value. The message continues a sentence that begins with the parameter's name. */
export type AddProblem = (message: string) => void;

export interface QueryParameter<Value> {
  description: string;
  schema: JsonSchema;
  /** A required parameter needs an `example`. */
  required?: true;
  example?: string | readonly string[];
  /** The parameter can be repeated. */
  explode?: true;
  /** Parses the parameter's values; the array is empty if it is omitted. The result is not used after `addProblem`. */
  read(texts: readonly string[], addProblem: AddProblem): Value;
}

/** The parameters of a route by name. */
export type Query = Readonly<Record<string, QueryParameter<unknown>>>;

/** The parsed values by parameter name. */
export type QueryValues<Declared extends Query> = {
  [Name in keyof Declared]: ReturnType<Declared[Name]["read"]>;
};

/** Parses a query. Throws VALIDATION_ERROR with all problems, including undeclared parameters. */
export function parseQuery<Declared extends Query>(
  declared: Declared,
  value: URLSearchParams,
): QueryValues<Declared> {
  const { values, problems } = readValues(declared, (name) => value.getAll(name));
  problems.push(...findUnknown(value, Object.keys(declared)));
  rejectProblems(problems);
  return values;
}

/** Parses all declared parameters. Returns their values and problems. */
export function readValues<Declared extends Query>(
  declared: Declared,
  textsOf: (name: string) => readonly string[],
): { values: QueryValues<Declared>; problems: Problem[] } {
  const problems: Problem[] = [];
  const values = Object.entries(declared).map(([path, parameter]) => {
    const addProblem: AddProblem = (message) => void problems.push({ path, message });
    return [path, parameter.read(textsOf(path), addProblem)];
  });
  // The cast is correct: each name has the value that its own parameter returned.
  return { values: Object.fromEntries(values) as QueryValues<Declared>, problems };
}

function findUnknown(value: URLSearchParams, known: readonly string[]): Problem[] {
  const others = [...new Set(value.keys())].filter((name) => !known.includes(name));
  if (others.length === 0) return [];
  const choice = known.length > 0 ? `the parameters are ${known.join(", ")}` : "there are no parameters";
  return others.map((path) => ({ path, message: `is not a parameter of this endpoint; ${choice}` }));
}

export function queryOf(request: Request): URLSearchParams {
  return new URL(request.url).searchParams;
}

/** Throws VALIDATION_ERROR if the request has a query. */
export function rejectQuery(request: Request): void {
  parseQuery({}, queryOf(request));
}

/** Creates a parser that rejects a repeated parameter. `read` gets the parameter's text, or null if it is omitted. */
export function once<Value>(read: (text: string | null, addProblem: AddProblem) => Value) {
  return (texts: readonly string[], addProblem: AddProblem): Value => {
    if (texts.length <= 1) return read(texts[0] ?? null, addProblem);
    addProblem("must be given once");
    return read(null, () => {});
  };
}

/** Declares an enum parameter; null if omitted. */
export function choice<const Word extends string>(
  words: readonly Word[],
  description: string,
  message = `must be one of ${words.join(", ")}`,
) {
  return {
    description,
    schema: oneOf(words),
    read: once((text, addProblem): Word | null => {
      const found = words.find((word) => word === text) ?? null;
      if (text !== null && found === null) addProblem(message);
      return found;
    }),
  };
}

/** Declares an enum parameter whose default is the first word. */
export function word<const Word extends string>(
  words: readonly [Word, ...Word[]],
  description: string,
  message?: string,
) {
  const parameter = mapped(choice(words, description, message), (found) => found ?? words[0]);
  return { ...parameter, schema: { ...parameter.schema, default: words[0] } };
}

/** Declares a boolean parameter. `unset` is the default; null means no default. */
export function flag<Unset extends boolean | null>(unset: Unset, description: string, message?: string) {
  const parameter = mapped(choice(["true", "false"], description, message), (found): boolean | Unset =>
    found === null ? unset : found === "true",
  );
  return { ...parameter, schema: Type.Boolean(unset === null ? {} : { default: unset }) };
}

/** Declares an integer parameter. `unset` is the default; null means no default. */
export function integer<Unset extends number | null>(
  bounds: { min: number; max: number; unset: Unset },
  description: string,
) {
  const { min, max, unset } = bounds;
  return {
    description,
    schema: Type.Integer({ minimum: min, maximum: max, ...(unset === null ? {} : { default: unset }) }),
    read: once((text, addProblem): number | Unset => {
      if (text === null) return unset;
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      if (!(value >= min && value <= max)) addProblem(`must be a whole number from ${min} to ${max}`);
      return value;
    }),
  };
}

/** Declares a decimal parameter such as `0.25`, or `2.5e-7` as JSON writes small numbers; null if omitted. */
export function decimal(bounds: { min: number; max: number }, description: string) {
  const { min, max } = bounds;
  return {
    description,
    schema: Type.Number({ minimum: min, maximum: max }),
    read: once((text, addProblem): number | null => {
      if (text === null) return null;
      const value = /^\d{1,10}(?:\.\d{1,30})?(?:e[+-]?\d{1,2})?$/i.test(text) ? Number(text) : Number.NaN;
      if (!(value >= min && value <= max)) addProblem(`must be a number from ${min} to ${max}, such as 0.5`);
      return value;
    }),
  };
}

/** Declares a page size parameter. */
export function limit(bounds: { max: number; unset: number }, description: string) {
  return integer({ min: 1, ...bounds }, description);
}

/** The number of items to skip. All lists share its description, so the OpenAPI document has it once. */
export const OFFSET = integer({ min: 0, max: MAX_OFFSET, unset: 0 }, "Items to skip");

/** Declares a UUID parameter, converted to lower case; null if omitted. */
export function uuid(description: string) {
  return {
    description,
    schema: Uuid(),
    read: once((text, addProblem): string | null => {
      if (text !== null && !isUuid(text)) addProblem("must be a UUID");
      return text?.toLowerCase() ?? null;
    }),
  };
}

/** Declares a timestamp parameter, truncated to milliseconds; null if omitted. */
export function instant(description: string, read = readInstant) {
  return { description, schema: Instant(), read: once(read) };
}

/** Parses a timestamp and truncates it to milliseconds; null if omitted. */
export function readInstant(text: string | null, addProblem: AddProblem): string | null {
  const instant = text === null ? null : parseInstant(text);
  if (text !== null && instant === null) {
    addProblem("must be ISO 8601 with an offset, such as 2026-11-20T10:00:00.000Z");
  }
  return instant;
}

/** Declares a text parameter; null if omitted. */
export function text(maxLength: number, description: string) {
  return {
    description,
    schema: Type.String({ maxLength }),
    read: once((value, addProblem): string | null => {
      if (value !== null) rejectLong(value, maxLength, addProblem);
      return value;
    }),
  };
}

/** Declares a repeatable text parameter. Removes duplicates. */
export function texts({ maxItems, maxLength }: { maxItems: number; maxLength: number }, description: string) {
  return {
    description,
    explode: true as const,
    schema: listOf(Type.String({ maxLength }), { maxItems }),
    read(text: readonly string[], addProblem: AddProblem): string[] {
      const values = [...new Set(text)];
      if (values.length > maxItems) addProblem(`must have at most ${maxItems} values`);
      for (const value of values.slice(0, maxItems)) rejectLong(value, maxLength, addProblem);
      return values;
    },
  };
}

/** Declares a repeatable enum parameter. Removes duplicates. */
export function words<const Word extends string>(known: readonly Word[], description: string) {
  return {
    description,
    explode: true as const,
    schema: listOf(oneOf(known)),
    read(text: readonly string[], addProblem: AddProblem): Word[] {
      const values = [...new Set(text)];
      const found = values.flatMap((value) => known.find((word) => word === value) ?? []);
      for (const _ of values.slice(found.length)) addProblem(`must be one of ${known.join(", ")}`);
      return found;
    },
  };
}

/** Limits the length, because searching for a long text is expensive. */
function rejectLong(value: string, maxLength: number, addProblem: AddProblem): void {
  if (isLongerThan(value, maxLength)) addProblem(`must have at most ${maxLength} characters`);
}

export function mapped<Value, Result>(
  parameter: QueryParameter<Value>,
  map: (value: Value) => Result,
): QueryParameter<Result> {
  return { ...parameter, read: (value, addProblem) => map(parameter.read(value, addProblem)) };
}
