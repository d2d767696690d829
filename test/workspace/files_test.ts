/** House rules that can be checked in a single file. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { listFiles, ROOT } from "./source_files.ts";

const MAX_LINES = 400;
const MAX_TEST_LINES = 450;

const files = await Array.fromAsync(
  await listFiles("{shared,sql,api,jobs,catalog-sync,test}/**/*.ts"),
  async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() }),
);

test("source files and test helpers begin with a doc comment", () => {
  // Test files need no description, because their names and tests describe them.
  const silent = files.filter(({ path, text }) => !path.endsWith("_test.ts") && !text.startsWith("/**"));
  expect(silent.map(({ path }) => path)).toEqual([]);
});

test("source and test files do not exceed the maximum number of lines", () => {
  const long = files.filter(({ path, text }) => {
    const limit = path.startsWith("test/") ? MAX_TEST_LINES : MAX_LINES;
    return text.split("\n").length - 1 > limit;
  });
  expect(long.map(({ path }) => path)).toEqual([]);
});

test("test files are named so that `bun test` finds them", () => {
  const unseen = files.filter(
    ({ path, text }) => text.includes('from "bun:test"') && !path.endsWith("_test.ts"),
  );
  expect(unseen.map(({ path }) => path)).toEqual([]);
});

test("no test is marked with skip, todo, only or a condition", () => {
  const marked = files.filter(({ text }) =>
    /\b(?:test|describe|it)\.(?:skip|todo|only|if|skipIf|todoIf)\b/.test(text),
  );
  expect(marked.map(({ path }) => path)).toEqual([]);
});
