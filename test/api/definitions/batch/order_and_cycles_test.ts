import { expect, test } from "bun:test";
import { findInBatch, makeBatch, sortBatch } from "../../../../api/definitions/batch/order_and_cycles.ts";
import type { WrittenDocument } from "../../../../api/definitions/document.ts";
import { countTurns } from "../../../helpers/count_turns.ts";

/** Returns a document with only the fields that determine its order. `needs` lists `name@range`. */
function documentOf(name: string, needs: readonly string[], version = "1.0.0"): WrittenDocument {
  const references = needs.map((text) => {
    const [needed = "", range = ""] = text.split("@");
    return { type: "agent", orgSlug: null, name: needed, range, inTree: true, context: "requires" };
  });
  return { type: "agent", name, version, references } as unknown as WrittenDocument;
}

test("sortBatch() puts dependencies first and lists a cycle once", async () => {
  const documents = [documentOf("a", ["b@^1.0.0"]), documentOf("b", ["c@1.0.0"]), documentOf("c", [])];
  const { sorted, cycles } = await sortBatch(makeBatch("demo", documents));
  expect([sorted.map(({ name }) => name), cycles]).toEqual([["c", "b", "a"], []]);
  const [a, b] = [documentOf("a", ["b@^1.0.0"]), documentOf("b", ["a@1.0.0"])];
  expect((await sortBatch(makeBatch("demo", [a, b]))).cycles).toEqual([[a, b]]);
});

test("for 200 documents that all depend on each other, at most one cycle is listed per document", async () => {
  const names = Array.from({ length: 200 }, (_, n) => `d${n}`);
  const documents = names.map((name) =>
    documentOf(
      name,
      names.filter((other) => other !== name).map((other) => `${other}@^1.0.0`),
    ),
  );
  const { sorted, cycles } = await sortBatch(makeBatch("demo", documents));
  expect(sorted).toHaveLength(200);
  expect(cycles.length).toBeGreaterThan(0);
  expect(new Set(cycles.map(([first]) => first)).size).toBe(cycles.length);
});

test("resolving 1,000 references to one line yields to other work and looks up each range once", async () => {
  const versions = Array.from({ length: 199 }, (_, n) => documentOf("many", [], `1.0.${n}`));
  const ranges = Array.from({ length: 1000 }, (_, n) => `many@~1.0.${n % 500}`);
  const top = documentOf("top", ranges);
  const batch = makeBatch("demo", [top, ...versions]);
  const { result, turns } = await countTurns(() => sortBatch(batch));
  const newest = versions.at(-1) as WrittenDocument;
  expect(result.sorted.indexOf(newest)).toBeLessThan(result.sorted.indexOf(top));
  expect(turns).toBeGreaterThan(20);
  expect(batch.found.size).toBe(500);
  const reference = { type: "agent", orgSlug: null, name: "many", range: "~1.0.198" } as const;
  expect(findInBatch(batch, reference)?.version).toBe("1.0.198");
  expect(findInBatch(batch, { ...reference, range: "~1.0.199" })).toBeNull();
});
