/** The SQL of docs/tracker.md works as printed, and its tables are those of the database. */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { openLoginRole } from "../helpers/postgres/login_role.ts";
import { renderTable } from "../helpers/postgres/table_document.ts";

function readDocument(): Promise<string> {
  return Bun.file(new URL("../../docs/tracker.md", import.meta.url)).text();
}

test.each(Object.values(EXPORT_DATASETS).map(({ table, columns }) => [table, columns] as const))(
  "docs/tracker.md has the columns, keys and indexes of %s as they are",
  async (table, columns) => {
    await using db = await openTestDatabase();
    const meanings = Object.fromEntries(columns.map(({ column, description }) => [column, description]));
    const expected = await renderTable(db.owner, table, { project_id: "The project", ...meanings });
    const sections = (await readDocument()).split(/^(?=### )/m).map((section) => section.trim());
    expect(sections.find((section) => section.startsWith(`### ${table}\n`))).toBe(expected.trim());
  },
);

test("a role with the grants of docs/tracker.md can write its sample rows, and delete none", async () => {
  await using db = await openTestDatabase();
  const text = await readDocument();
  const [grants = "", inserts = ""] = [...text.matchAll(/```sql\n([^`]*)```/g)].map(([, sql = ""]) => sql);
  await using tracker = await openLoginRole(db, { name: "acme_tracker" });
  await db.owner.unsafe(grants);
  const make = createFactory(db.sql);
  const { org, user } = await make.person();
  await make.project({ id: "6f1c2a34-0000-4000-8000-000000000001", orgId: org.id, ownerId: user.id });
  await tracker.sql.begin((tx) => tx.unsafe(inserts));
  expect(await db.sql`select agent_name from occurrences`).toMatchObject([{ agentName: "reviewer" }]);
  await expect(Promise.resolve(tracker.sql`delete from runs`)).rejects.toThrow("permission denied");
});
