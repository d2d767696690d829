/** Tests mirror the paths of their source files, so that each can be found from the other. */
import { expect, test } from "bun:test";
import { sources, sourcesOf, tests } from "./mirror.ts";

test("a test file has the name of a source file or is in a folder with that name", () => {
  const lost = tests.filter((path) => !sourcesOf(path).some((source) => sources.includes(source)));
  expect(lost).toEqual([]);
});
