import { expect, test } from "bun:test";
import { plainScalar, scalarFlag, scalarNumber, scalarText } from "../../../shared/yaml/scalars.ts";

test.each([
  [3.1, "3.10", "3.10"],
  [3.1, "3.1", 3.1],
  [1000, "1e3", "1e3"],
  [Number.POSITIVE_INFINITY, ".inf", ".inf"],
  [true, "True", "True"],
  [true, "true", true],
  [null, "~", null],
  ["x", '"x"', "x"],
])("plainScalar(%p, %p) returns %p", (value, source, plain) => {
  expect(plainScalar(value, source)).toBe(plain);
});

test.each([
  ["80.0", 80],
  [" 80 ", 80],
  ["0x1F", 31],
  ["0o17", 15],
  ["1e3", 1000],
  ["-0.50", -0.5],
  ["999999999999999", 999999999999999],
  // More digits than a double can represent.
  ["12345678901234567890", null],
  ["0.1234567890123456789", null],
  ["0x1FFFFFFFFFFFFFFFF", null],
  ["1e999", null],
  [".inf", null],
  ["0b1", null],
  ["1_000", null],
  ["", null],
  [Number.NaN, null],
  [true, null],
  [[1], null],
  [null, null],
])("scalarNumber(%p) returns %p", (value, number) => {
  expect(scalarNumber(value)).toBe(number);
});

test.each([
  ["yes Yes YES on On y true True TRUE", true],
  ["no No NO off OFF n false False", false],
  ["maybe 1 0 truely nope none", null],
])("scalarFlag() reads each of %j as %p", (words, flag) => {
  for (const word of words.split(" ")) expect(scalarFlag(word)).toBe(flag);
});

test("scalarText() returns the text of a scalar, or null for a blank value or a non-scalar", () => {
  const texts = ["x", 7, false, "", " ", null, undefined, [], {}, Number.NaN].map(scalarText);
  expect(texts).toEqual(["x", "7", "false", null, null, null, null, null, null, null]);
});
