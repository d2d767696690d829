import { describe, expect, test } from "bun:test";
import {
  choice,
  flag,
  integer,
  mapped,
  once,
  parseQuery,
  text,
  texts,
  uuid,
  word,
  words,
} from "../../../api/http/query.ts";
import { ApiError } from "../../../shared/errors.ts";

const QUERY = {
  color: choice(["red", "green"], "Of this color"),
  order: word(["down", "up"], "Up or down"),
  full: flag(false, "Everything"),
  size: integer({ min: 1, max: 100, unset: 20 }, "Of a page"),
  owner: uuid("Of this user"),
  search: mapped(text(5, "Words"), (given) => given?.trim() || null),
  tag: texts({ maxItems: 2, maxLength: 3 }, "Any of the tags"),
  part: words(["head", "tail"], "All of the parts"),
  from: {
    required: true as const,
    description: "Where to begin",
    example: "7",
    schema: { type: "string" },
    read: once((given, refuse) => (given === null ? refuse("is required") : given)),
  },
};

/** Returns the error code and the problems of an invalid query. */
function problemsOf(query: string): unknown {
  try {
    return parseQuery(QUERY, new URLSearchParams(query));
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.details?.["errors"]];
    throw error;
  }
}

describe("a query", () => {
  test("has defaults for omitted parameters", () => {
    expect(parseQuery(QUERY, new URLSearchParams("from=7"))).toEqual({
      color: null,
      order: "down",
      full: false,
      size: 20,
      owner: null,
      search: null,
      tag: [],
      part: [],
      from: "7",
    });
  });

  test("returns the given values, each parsed as its parameter declares", () => {
    const owner = "5F0C6D0E-3F5B-4C57-9A54-0F2D8F0F7C11";
    const given = `color=green&order=up&full=true&size=100&owner=${owner}&search=+a+&tag=x&tag=y&tag=x&part=tail&from=7`;
    expect(parseQuery(QUERY, new URLSearchParams(given))).toEqual({
      color: "green",
      order: "up",
      full: true,
      size: 100,
      owner: owner.toLowerCase(),
      search: "a",
      tag: ["x", "y"],
      part: ["tail"],
      from: "7",
    });
  });

  test("counts the length of a text in characters instead of UTF-16 units", () => {
    const given = { search: "😀😀😀😀😀", tag: "😀😀😀" };
    const parsed = parseQuery(QUERY, new URLSearchParams({ ...given, from: "7" }));
    expect(parsed).toMatchObject({ ...given, tag: [given.tag] });
    expect(problemsOf("from=7&search=😀😀😀😀😀😀&tag=😀😀😀😀")).toEqual([
      "VALIDATION_ERROR",
      [
        { path: "search", message: "must have at most 5 characters" },
        { path: "tag", message: "must have at most 3 characters" },
      ],
    ]);
  });

  test("is rejected with all problems in the order of the declaration, unknown parameters last", () => {
    const given =
      "colour=red&color=blue&order=&full=1&size=0&owner=me&search=abcdef&tag=abcd&part=foot&part=hand";
    const known = Object.keys(QUERY).join(", ");
    expect(problemsOf(given)).toEqual([
      "VALIDATION_ERROR",
      [
        { path: "color", message: "must be one of red, green" },
        { path: "order", message: "must be one of down, up" },
        { path: "full", message: "must be one of true, false" },
        { path: "size", message: "must be a whole number from 1 to 100" },
        { path: "owner", message: "must be a UUID" },
        { path: "search", message: "must have at most 5 characters" },
        { path: "tag", message: "must have at most 3 characters" },
        { path: "part", message: "must be one of head, tail" },
        { path: "part", message: "must be one of head, tail" },
        { path: "from", message: "is required" },
        { path: "colour", message: `is not a parameter of this endpoint; the parameters are ${known}` },
      ],
    ]);
  });

  test("may repeat a parameter only if the parameter is a list", () => {
    expect(problemsOf("from=7&size=0&size=1&tag=a&tag=b&tag=c&full=x&full=y")).toEqual([
      "VALIDATION_ERROR",
      [
        { path: "full", message: "must be given once" },
        { path: "size", message: "must be given once" },
        { path: "tag", message: "must have at most 2 values" },
      ],
    ]);
  });
});

test("the declared parameters contain their OpenAPI descriptions", () => {
  const described = Object.entries(QUERY).map(([name, { read: _, ...rest }]) => ({
    name,
    in: "query",
    ...rest,
  }));
  // The round trip through JSON yields the values that the OpenAPI document contains.
  expect(JSON.parse(JSON.stringify(described))).toEqual([
    {
      name: "color",
      in: "query",
      description: "Of this color",
      schema: { type: "string", enum: ["red", "green"] },
    },
    {
      name: "order",
      in: "query",
      description: "Up or down",
      schema: { type: "string", enum: ["down", "up"], default: "down" },
    },
    { name: "full", in: "query", description: "Everything", schema: { type: "boolean", default: false } },
    {
      name: "size",
      in: "query",
      description: "Of a page",
      schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    },
    { name: "owner", in: "query", description: "Of this user", schema: { type: "string", format: "uuid" } },
    { name: "search", in: "query", description: "Words", schema: { type: "string", maxLength: 5 } },
    {
      name: "tag",
      in: "query",
      description: "Any of the tags",
      explode: true,
      schema: { type: "array", items: { type: "string", maxLength: 3 }, maxItems: 2 },
    },
    {
      name: "part",
      in: "query",
      description: "All of the parts",
      explode: true,
      schema: { type: "array", items: { type: "string", enum: ["head", "tail"] } },
    },
    {
      name: "from",
      in: "query",
      required: true,
      description: "Where to begin",
      example: "7",
      schema: { type: "string" },
    },
  ]);
});
