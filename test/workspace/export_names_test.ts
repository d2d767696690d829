/** A name means one thing: readers and editors find the one declaration. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { listFiles, ROOT } from "./source_files.ts";

const EXPORT = /^export (?:async )?(?:abstract )?(?:function\*?|const|class|interface|type|let|enum) (\w+)/gm;

/**
 * What a file belongs to. A query, the operation over it, and the page and the command that call it do the same thing at four
 * doors and may have the same name. Views of pages are named within their folder.
 */
function layerOf(path: string): string {
  return /^(?:api\/pages\/(?:\w+\/)?|api\/admin\/|[\w-]+\/)/.exec(path)?.[0] ?? "";
}

test("no name is exported twice in a layer, and names of shared/ are exported nowhere else", async () => {
  const places = new Map<string, string[]>();
  for (const path of await listFiles("{api,sql,shared,jobs,catalog-sync,deploy}/**/*.ts")) {
    const text = await Bun.file(join(ROOT, path)).text();
    // Overloads of a function are one name.
    for (const name of new Set([...text.matchAll(EXPORT)].map(([, name = ""]) => name)))
      places.set(name, [...(places.get(name) ?? []), path]);
  }
  expect(places.size).toBeGreaterThan(2000);
  const doubles = [...places].filter(([, paths]) => {
    const layers = paths.map(layerOf);
    return paths.length > 1 && (new Set(layers).size < layers.length || layers.includes("shared/"));
  });
  expect(doubles.map(([name, paths]) => `${name}: ${paths.join(", ")}`)).toEqual([]);
});
