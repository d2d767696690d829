import { expect, test } from "bun:test";
import { acceptedFormat, splitEnding } from "../../../../api/definitions/read.ts";

test.each([
  [null, null],
  ["*/*", null],
  ["text/html,application/xhtml+xml,*/*;q=0.8", null],
  ["text/markdown", "md"],
  ["Application/YAML; q=0.5", "yaml"],
  ["text/markdown, */*", "md"],
  ["application/json, text/markdown", null],
  ["application/json;q=0.5, text/markdown", "md"],
  ["application/yaml;q=0.4, text/markdown;q=0.6", "md"],
  ["text/markdown;q=0", null],
  ["text/markdown;q=none", null],
] as const)("acceptedFormat(%j) is %j", (accept, format) => {
  expect(acceptedFormat(accept)).toBe(format);
});

test.each([
  ["reviewer", "reviewer", null],
  ["reviewer.md", "reviewer", "md"],
  ["@acme/reviewer@1.0.0.yaml", "@acme/reviewer@1.0.0", "yaml"],
  ["reviewer@1.0.0", "reviewer@1.0.0", null],
  [".md", ".md", null],
] as const)("splitEnding() splits %j into a name and an ending", (path, name, ending) => {
  expect(splitEnding(path)).toEqual({ name, ending });
});
