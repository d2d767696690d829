/** Tests mirror the paths of their source files, so that each can be found from the other. */
import { expect, test } from "bun:test";
import { sources, sourcesOf, tests } from "./mirror.ts";

test("every test file is named after a source file or is in a folder named after a source file", () => {
  const lost = tests.filter((path) => !sourcesOf(path).some((source) => sources.includes(source)));
  expect(lost).toEqual([]);
});
