/** Maps source files to their tests. The path of one determines the path of the other. */
import { join } from "node:path";
import { listFiles, ROOT } from "./source_files.ts";

/**
 * Folders of the product that have a counterpart in `test/`. Tests of whole processes are in other folders, such as
 * `test/system`.
 */
const MIRRORED = "{api,sql,shared,jobs,catalog-sync,deploy}";

/** Paths of the source files, without extension: `api/exports/dataset`. */
export const sources = (await listFiles(`${MIRRORED}/**/*.{ts,sql}`)).map((path) =>
  path.replace(/\.(ts|sql)$/, ""),
);

/** Paths of all files in the mirrored folders of `test/`. */
export const tests = await listFiles(`test/${MIRRORED}/**/*.ts`);

/**
 * Returns the sources that a test file may belong to: the source with its own name, and the source with its folder's
 * name.
 */
export function sourcesOf(test: string): string[] {
  const source = test.replace(/^test\//, "").replace(/_test\.ts$/, "");
  return [source, source.slice(0, source.lastIndexOf("/"))];
}

/** Reads a source file and its tests: `dataset_test.ts`, and the files in `dataset/`. */
export async function readWithTests(source: string): Promise<{ text: string; tests: string[] }> {
  const read = (path: string) => Bun.file(join(ROOT, path)).text();
  const own = tests.filter((test) => sourcesOf(test).includes(source));
  return { text: await read(`${source}.ts`), tests: await Promise.all(own.map(read)) };
}
