/** A registry whose counts identify the definitions they include. */
import type { TestApp } from "../http/app.ts";
import { makeDefinition } from "./definitions.ts";

/** One definition of each kind. The executions of a line are a power of ten, so a sum identifies its parts. */
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
