import { expect, test } from "bun:test";
import { findJsonExcess, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../../../../api/http/body/json_limits.ts";

function excessOf(text: string): string | null {
  return findJsonExcess(new TextEncoder().encode(text));
}

test("64 levels of nesting are accepted, and 65 are refused", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  expect(excessOf(nested(MAX_JSON_DEPTH))).toBeNull();
  expect(excessOf(nested(MAX_JSON_DEPTH + 1))).toContain("64 levels");
  expect(excessOf(`{"a":${nested(MAX_JSON_DEPTH - 1)}}`)).toBeNull();
  expect(excessOf(`{"a":${nested(MAX_JSON_DEPTH)}}`)).toContain("64 levels");
});

test("20,000 members and elements are accepted, and more are refused", () => {
  const list = (length: number) => `[${Array<number>(length).fill(0).join()}]`;
  expect(excessOf(list(MAX_JSON_VALUES))).toBeNull();
  expect(excessOf(list(MAX_JSON_VALUES + 1))).toContain("20000 members");
});

test("the content of strings is not counted, even with escapes", () => {
  const brackets = "[".repeat(100) + ",".repeat(MAX_JSON_VALUES + 1);
  for (const text of [`"${brackets}"`, `"\\"${brackets}"`, `"\\\\\\"${brackets}"`, `{"${brackets}": 0}`]) {
    expect(excessOf(text)).toBeNull();
  }
  expect(excessOf(`"\\\\"${brackets}`)).not.toBeNull();
});

test("findJsonExcess() returns null for text that is not JSON", () => {
  for (const text of ["", '"', '"\\', "]]]]", '{"a', "\\\\\\"]) expect(excessOf(text)).toBeNull();
});
