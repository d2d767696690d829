/** Creates a registry for tests of sums of execution counts. */
import type { TestApp } from "../http/app.ts";
import { makeDefinition } from "./definitions.ts";

/**
 * Creates lines that differ in status and visibility. Each line's execution count is a different power of ten, so the
 * digits of a sum show which lines were added.
 */
export async function makeCountedRegistry(
  api: TestApp,
  person: Awaited<ReturnType<TestApp["make"]["person"]>>,
): Promise<void> {
  const versions = [
    [{ name: "open", status: "published", visibility: "public" }],
    [{ name: "old", status: "deprecated", visibility: "public" }],
    [{ name: "gone", status: "archived", visibility: "public" }],
    [{ name: "draft", status: "draft", visibility: "public" }],
    [{ name: "hidden", status: "published", visibility: "private" }],
    [{ name: "linked", status: "published", visibility: "unlisted" }],
    [
      { name: "withdrawn", version: "1.0.0", status: "published", visibility: "public" },
      { name: "withdrawn", version: "1.10.0", status: "published", visibility: "private" },
      { name: "withdrawn", version: "1.9.0", status: "archived", visibility: "public" },
    ],
  ] as const;
  for (const [index, line] of versions.entries()) {
    for (const columns of line) {
      const { lineId } = await makeDefinition(api.db.sql, person, columns);
      await api.db.sql`update definition_lines set execution_count = ${10 ** index} where id = ${lineId}`;
    }
  }
}
