/** Which tests belong to a source file: the path of one determines the path of the other. */
import { join } from "node:path";
import { listFiles, ROOT } from "./source_files.ts";

/**
 * Product folders that have a counterpart in `test/`. Tests of whole processes are in `test/system` and beside it.
 */
const MIRRORED = "{api,sql,shared,jobs,catalog-sync,deploy}";

/** Source files without their extension: `api/exports/dataset`. */
export const sources = (await listFiles(`${MIRRORED}/**/*.{ts,sql}`)).map((path) =>
  path.replace(/\.(ts|sql)$/, ""),
);

/** Files in the folders of `test/` that mirror the product's. */
export const tests = await listFiles(`test/${MIRRORED}/**/*.ts`);

/** The sources that a test file may belong to: the one of its own name, and the one of its folder's name. */
export function sourcesOf(test: string): string[] {
  const source = test.replace(/^test\//, "").replace(/_test\.ts$/, "");
  return [source, source.slice(0, source.lastIndexOf("/"))];
}

/** The text of a source file and of its tests: `dataset_test.ts`, and the parts in `dataset/`. */
export async function readWithTests(source: string): Promise<{ text: string; tests: string[] }> {
  const read = (path: string) => Bun.file(join(ROOT, path)).text();
  const own = tests.filter((test) => sourcesOf(test).includes(source));
  return { text: await read(`${source}.ts`), tests: await Promise.all(own.map(read)) };
}
