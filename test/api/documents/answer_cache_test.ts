import { expect, test } from "bun:test";
import { AnswerCache } from "../../../api/documents/answer_cache.ts";

test("many who ask at once are one, and later ones have the same answer", async () => {
  const cache = new AnswerCache(1_000);
  let made = 0;
  const make = async () => {
    made += 1;
    await Promise.resolve();
    return "text";
  };
  const texts = await Promise.all(Array.from({ length: 50 }, () => cache.answer("key", make)));
  expect([new Set(texts), made]).toEqual([new Set(["text"]), 1]);
  expect([await cache.answer("key", make), made]).toEqual(["text", 1]);
  expect([await cache.answer("other", make), made]).toEqual(["text", 2]);
});

test("a failure is for those who wait, and the next one tries again", async () => {
  const cache = new AnswerCache(1_000);
  const fail = () => Promise.reject(new Error("no"));
  const both = await Promise.allSettled([cache.answer("key", fail), cache.answer("key", fail)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await cache.answer("key", async () => "text")).toBe("text");
});

test("no more is kept than there is room for, and what was asked for last stays", async () => {
  const cache = new AnswerCache(2 * 10 * 101);
  const made: string[] = [];
  const ask = (key: string, text = "x".repeat(100)) =>
    cache.answer(key, async () => {
      made.push(key);
      return text;
    });
  for (const key of "abcdefghij") await ask(key);
  await ask("a");
  await ask("k");
  expect(cache.bytes).toBe(2 * 10 * 101);
  await ask("a");
  await ask("b");
  expect(made.join("")).toBe("abcdefghijkb");
  await ask("long", "x".repeat(10_000));
  expect([cache.bytes, (await ask("long", "again")).length]).toEqual([2 * 10 * 101, 5]);
});
