import { expect, test } from "bun:test";
import {
  countCharacters,
  isLongerThan,
  isStorable,
  normalizeText,
  shorten,
} from "../../shared/characters.ts";

test("an emoji counts as one character", () => {
  expect(countCharacters("a😀é")).toBe(3);
  expect([isLongerThan("😀😀", 2), isLongerThan("😀😀😀", 2)]).toEqual([false, true]);
  expect([isLongerThan("ab", 2), isLongerThan("abc", 2), isLongerThan("😀ab", 2)]).toEqual([
    false,
    true,
    true,
  ]);
});

test("shorten() leaves no lone surrogate when it truncates inside an emoji", () => {
  expect([shorten("abc", 3), shorten("abcd", 3)]).toEqual(["abc", "abc…"]);
  expect(shorten("ab😀", 3)).toBe("ab\uFFFD…");
});

test("isStorable() rejects NUL and lone surrogates", () => {
  expect(["a😀", "a\0", "a\uD83D"].map(isStorable)).toEqual([true, false, false]);
});

test("normalizeText() keeps only the first thirty marks in a run of combining marks", () => {
  expect(normalizeText("ﬁancé\u0301", "NFKC")).toBe("fiancé\u0301");
  expect(normalizeText("e\u0301x", "NFKC")).toBe("éx");
  // Normalizing all marks would take minutes.
  const marks = "\u0315".repeat(50_000) + "\u0327".repeat(50_000);
  expect(normalizeText(`a${marks}b`, "NFKD")).toBe(`a${"\u0315".repeat(30)}b`);
});
