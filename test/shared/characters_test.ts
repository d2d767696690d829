import { expect, test } from "bun:test";
import { countCharacters, isLongerThan } from "../../shared/characters.ts";

test("an emoji is one character", () => {
  expect(countCharacters("a😀é")).toBe(3);
  expect([isLongerThan("😀😀", 2), isLongerThan("😀😀😀", 2)]).toEqual([false, true]);
});
