/** Exported names are unique, so that readers and editors find their only declaration. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { listFiles, ROOT } from "./source_files.ts";

const EXPORT = /^export (?:async )?(?:abstract )?(?:function\*?|const|class|interface|type|let|enum) (\w+)/gm;

/**
 * Returns a file's layer. A query, its operation, and the page and the command that call the operation are in different
 * layers and may share a name. Each folder of pages is its own layer.
 */
function layerOf(path: string): string {
  return /^(?:api\/pages\/(?:\w+\/)?|api\/admin\/|[\w-]+\/)/.exec(path)?.[0] ?? "";
}

test("no layer exports a name twice, and no layer exports a name that shared/ also exports", async () => {
  const places = new Map<string, string[]>();
  for (const path of await listFiles("{api,sql,shared,jobs,catalog-sync,deploy}/**/*.ts")) {
    const text = await Bun.file(join(ROOT, path)).text();
    // Overloads of a function count as one name.
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
