import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { createBodyCheck } from "../../../api/http/validation_problems.ts";
import { ApiError } from "../../../shared/errors.ts";

/** Returns the validation problems of a body; empty if the body is valid. */
function problemsOf(check: (body: Record<string, unknown>) => void, body: Record<string, unknown>): unknown {
  try {
    check(body);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.details?.["errors"];
  }
}

test("the length of a text is counted in characters, even within a nullable list", () => {
  const short = Type.String({ maxLength: 2 });
  const people = Type.Array(
    Type.Object({ name: Type.Union([short, Type.Null()]) }, { additionalProperties: false }),
    { maxItems: 2 },
  );
  const check = createBodyCheck(
    Type.Object({ title: short, people: Type.Union([people, Type.Null()]) }, { additionalProperties: false }),
  );
  expect(problemsOf(check, { title: "😀😀", people: [{ name: "😀😀" }, { name: null }] })).toEqual([]);
  expect(problemsOf(check, { title: "😀😀😀", people: null })).toMatchObject([{ path: "title" }]);
  expect(problemsOf(check, { title: "😀😀", people: [{ name: "abc" }] })).toMatchObject([
    { path: "people.0.name" },
  ]);
  expect(problemsOf(check, { title: "😀😀", people: "abc" })).toMatchObject([{ path: "people" }]);
});

test("createBodyCheck() rejects a schema that allows undeclared fields or lists of any length", () => {
  const closed = { additionalProperties: false };
  const schemas = [
    Type.Object({}),
    Type.Object({ list: Type.Array(Type.String()) }, closed),
    Type.Object({ list: Type.Array(Type.Object({}), { maxItems: 1 }) }, closed),
  ];
  for (const schema of schemas) expect(() => createBodyCheck(schema)).toThrow("Cannot check a body");
  expect(() => createBodyCheck(Type.Object({ ratio: Type.Number() }, closed))).not.toThrow();
});
