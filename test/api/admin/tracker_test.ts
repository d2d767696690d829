/** `tracker check`. */
import { expect, test } from "bun:test";
import { runCommand, runJson } from "../../helpers/accounts/admin.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../../helpers/exports/foreign_tracker.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

test("tracker check finds no difference in our own tables, nor in views over another tracker", async () => {
  await using db = await openTestDatabase();
  expect(await runJson(db.url, ["tracker", "check"])).toEqual({
    schema: "public",
    kind: "tables",
    differences: [],
  });
  await moveToForeignTracker(db.owner);
  const env = { TRACKER_SCHEMA: FOREIGN_SCHEMA };
  expect(await runJson(db.url, ["tracker", "check"], env)).toMatchObject({ kind: "views", differences: [] });
});

test.each([
  ["alter table issues drop column title", "issues.title: missing"],
  [
    "alter table issues alter column resolved_at type timestamp",
    "issues.resolved_at: timestamp without time zone",
  ],
  ["alter table issues alter column title drop not null", "issues.title: allows null"],
  ["drop index issues_project_id_created_at_id_idx", "issues: no index on (project_id, created_at, id)"],
  ["drop trigger runs_time_insert_trigger on runs", "runs: no enabled trigger runs_time_insert_trigger"],
  ["alter table issue_notes drop constraint issue_notes_pkey", "issue_notes: no primary key"],
  ["drop table occurrences cascade", "public.occurrences: missing"],
])("tracker check reports after %p: %p", async (change, expected) => {
  await using db = await openTestDatabase();
  await db.owner.unsafe(change);
  const run = await runCommand(db.url, ["tracker", "check"]);
  expect(run.exitCode).toBe(1);
  expect(run.err.split("\n").some((line) => line.startsWith(expected))).toBe(true);
});

test("tracker check says that a schema does not exist", async () => {
  await using db = await openTestDatabase();
  const run = await runCommand(db.url, ["tracker", "check"], { TRACKER_SCHEMA: "nowhere" });
  expect([run.exitCode, run.err]).toEqual([1, expect.stringContaining('schema "nowhere": missing')]);
});
