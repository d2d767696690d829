import { expect, test } from "bun:test";
import { unifiedDiff } from "../../../../api/documents/compare_documents.ts";
import { readDemoDefinitions } from "../../../helpers/definitions/demo_definitions.ts";

const FILE = "a.agent.yaml";

test("unifiedDiff() returns an empty diff for two equal texts", () => {
  for (const { yaml } of readDemoDefinitions()) expect(unifiedDiff(yaml, yaml, FILE)).toBe("");
});

test("unifiedDiff() returns a diff in git's format", () => {
  expect(unifiedDiff("a\nb\nc\nd\ne\n", "a\nb\nc\nD\ne\n", FILE)).toBe(
    `diff --git a/${FILE} b/${FILE}\n--- a/${FILE}\n+++ b/${FILE}\n@@ -1,5 +1,5 @@\n a\n b\n c\n-d\n+D\n e\n`,
  );
});
