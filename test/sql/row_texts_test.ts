import { expect, test } from "bun:test";
import { decodeJson } from "../../shared/json_text.ts";
import { RowTexts } from "../../sql/row_texts.ts";

test("a text is found by its key and the version it was made from, and by no other", () => {
  const texts = new RowTexts();
  expect(texts.find("a", "1")).toBeNull();
  const kept = texts.keep("a", "1", '{"name":"é"}');
  expect(texts.find("a", "1")).toBe(kept);
  expect(decodeJson(kept)).toBe('{"name":"é"}');
  expect([texts.find("a", "2"), texts.find("b", "1")]).toEqual([null, null]);
  texts.keep("a", "2", "{}");
  expect(texts.find("a", "1")).toBeNull();
});

test("what is kept is bounded: the text that was wanted longest ago goes first", () => {
  const text = "x".repeat(10_000);
  const texts = new RowTexts(5 * text.length);
  for (const key of ["a", "b", "c", "d"]) texts.keep(key, "1", text);
  texts.find("a", "1");
  texts.keep("e", "1", text);
  const kept = ["a", "b", "c", "d", "e"].filter((key) => texts.find(key, "1") !== null);
  expect(kept).toEqual(["a", "c", "d", "e"]);
  const large = texts.keep("f", "1", text.repeat(6));
  expect([large.bytes.length, texts.find("f", "1")]).toEqual([60_000, null]);
});
