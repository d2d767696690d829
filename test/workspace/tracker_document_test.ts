/** The SQL in docs/tracker.md works as printed, and its tables match the database. */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { runCommand } from "../helpers/accounts/admin.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../helpers/exports/foreign_tracker.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { openLoginRole } from "../helpers/postgres/login_role.ts";
import { renderTable } from "../helpers/postgres/table_document.ts";

function readDocument(): Promise<string> {
  return Bun.file(new URL("../../docs/tracker.md", import.meta.url)).text();
}

/** Returns the document's SQL blocks. */
async function readSql(): Promise<string[]> {
  return [...(await readDocument()).matchAll(/```sql\n([^`]*)```/g)].map(([, sql = ""]) => sql);
}

test.each(Object.values(EXPORT_DATASETS).map(({ table, columns }) => [table, columns] as const))(
  "docs/tracker.md lists the current columns, keys and indexes of %s",
  async (table, columns) => {
    await using db = await openTestDatabase();
    const meanings = Object.fromEntries(columns.map(({ column, description }) => [column, description]));
    const expected = await renderTable(db.owner, table, { project_id: "The project", ...meanings });
    const sections = (await readDocument()).split(/^(?=### )/m).map((section) => section.trim());
    expect(sections.find((section) => section.startsWith(`### ${table}\n`))).toBe(expected.trim());
  },
);

test("a role with the grants in docs/tracker.md can insert the sample rows but cannot delete rows", async () => {
  await using db = await openTestDatabase();
  const [grants = "", inserts = ""] = await readSql();
  await using tracker = await openLoginRole(db, { name: "acme_tracker" });
  await db.owner.unsafe(grants);
  const make = createFactory(db.sql);
  const { org, user } = await make.person();
  await make.project({ id: "6f1c2a34-0000-4000-8000-000000000001", orgId: org.id, ownerId: user.id });
  await tracker.sql.begin((tx) => tx.unsafe(inserts));
  expect(await db.sql`select agent_name from occurrences`).toMatchObject([{ agentName: "reviewer" }]);
  await expect(Promise.resolve(tracker.sql`delete from runs`)).rejects.toThrow("permission denied");
});

test("the triggers in docs/tracker.md check row times in a tracker's own table, and pass `tracker check`", async () => {
  await using db = await openTestDatabase();
  await moveToForeignTracker(db.owner);
  await db.owner.unsafe(`
    drop trigger t_issue_notes_time_insert_trigger on acme.t_issue_notes;
    drop trigger t_issue_notes_time_update_trigger on acme.t_issue_notes;
    alter table acme.t_issue_notes rename to findings;
    alter table acme.findings rename x_created_at to created;
    ${(await readSql())[3]}`);
  const insert = (time: string) =>
    db.owner.begin(async (tx) => {
      await tx`set local ulr.backfill = 'off'`;
      await tx.unsafe(`insert into acme.findings (created) values (${time})`);
    });
  await expect(insert("now() at time zone 'UTC' - interval '1 second'")).rejects.toThrow(
    'created of a new row of "findings" must be the start of its transaction',
  );
  await insert("now() at time zone 'UTC'");
  await db.owner`delete from acme.findings`;
  const run = await runCommand(db.url, ["tracker", "check"], { TRACKER_SCHEMA: FOREIGN_SCHEMA });
  expect([run.exitCode, run.err]).toEqual([0, ""]);
});
