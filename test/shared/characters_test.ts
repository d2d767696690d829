import { expect, test } from "bun:test";
import { countCharacters, isLongerThan } from "../../shared/characters.ts";

test("an emoji is one character", () => {
  expect(countCharacters("a😀é")).toBe(3);
  expect([isLongerThan("😀😀", 2), isLongerThan("😀😀😀", 2)]).toEqual([false, true]);
  expect([isLongerThan("ab", 2), isLongerThan("abc", 2), isLongerThan("😀ab", 2)]).toEqual([
    false,
    true,
    true,
  ]);
});
