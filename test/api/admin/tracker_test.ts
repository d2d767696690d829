/** Tests `tracker check`, and `tracker distribute` without Citus. test/citus/ tests `tracker distribute` with Citus. */
import { expect, test } from "bun:test";
import { runCommand, runJson } from "../../helpers/accounts/admin.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../../helpers/exports/foreign_tracker.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { openLoginRole } from "../../helpers/postgres/login_role.ts";

test("tracker check finds no difference in our own tables or in views over another tracker", async () => {
  await using db = await openTestDatabase();
  expect(await runJson(db.url, ["tracker", "check"])).toEqual({
    schema: "public",
    kind: "tables",
    differences: [],
    // The table owner and superusers are omitted. The service's roles can write, because the service imports rows.
    writers: ["ulr_app", "ulr_test_app"],
  });
  await moveToForeignTracker(db.owner);
  const env = { TRACKER_SCHEMA: FOREIGN_SCHEMA };
  await using writer = await openLoginRole(db);
  await db.owner.unsafe(`grant insert on acme.t_runs to ${writer.name}`);
  expect(await runJson(db.url, ["tracker", "check"], env)).toEqual({
    schema: FOREIGN_SCHEMA,
    kind: "views",
    differences: [],
    writers: [writer.name],
  });
});

test("tracker check accepts partitioned tables, but reports a trigger that misses moves between partitions", async () => {
  await using db = await openTestDatabase();
  // With TEST_PARTITIONS, the tables are already partitioned.
  if (!process.env["TEST_PARTITIONS"]) {
    const script = new URL("../../../sql/partition_tracker_tables.sql", import.meta.url);
    await db.owner.begin(async (tx) => tx.unsafe(await Bun.file(script).text()));
  }
  expect(await runJson(db.url, ["tracker", "check"])).toMatchObject({ kind: "tables", differences: [] });
  await db.owner.unsafe(`
    drop trigger issue_notes_log_delete_trigger on issue_notes;
    create trigger issue_notes_log_delete_trigger after delete on issue_notes referencing old table as deleted_rows
    for each statement execute function log_tracker_deletions('issue-notes')`);
  const run = await runCommand(db.url, ["tracker", "check"]);
  expect([run.exitCode, run.err.trimEnd().split("\n")]).toEqual([
    1,
    [expect.stringContaining("issue_notes: issue_notes_log_delete_trigger is not for each row")],
  ]);
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
  ["alter table runs drop constraint runs_project_id_fkey", "runs: no foreign key runs_project_id_fkey"],
  ["drop table occurrences cascade", "public.occurrences: missing"],
  [
    "drop index occurrences_project_id_run_id_idx",
    "occurrences: no index on (project_id, run_id, created_at, id)",
  ],
  ["drop index issues_deleted_idx", "issues: no index on (project_id, id) WHERE (deleted_at IS NOT NULL)"],
  [
    "drop index tracker_changes_project_id_dataset_at_idx",
    "tracker_changes: no index on (project_id, dataset, at)",
  ],
  [
    "drop trigger issues_log_visibility_trigger on issues",
    "issues: no enabled trigger issues_log_visibility_trigger",
  ],
  [
    "alter table runs disable trigger runs_log_delete_trigger",
    "runs: no enabled trigger runs_log_delete_trigger",
  ],
])("after %p, tracker check reports %p", async (change, expected) => {
  await using db = await openTestDatabase();
  await db.owner.unsafe(change);
  const run = await runCommand(db.url, ["tracker", "check"]);
  expect(run.exitCode).toBe(1);
  expect(run.err.split("\n").some((line) => line.startsWith(expected))).toBe(true);
});

test("tracker check prints one line for each difference", async () => {
  await using db = await openTestDatabase();
  await db.owner.unsafe(`
    alter table issues drop column title;
    drop index runs_project_id_created_at_id_idx;
    drop index issue_notes_project_id_issue_id_idx;
    drop trigger status_history_time_insert_trigger on status_history;
    drop trigger status_history_log_update_trigger on status_history`);
  const run = await runCommand(db.url, ["tracker", "check"]);
  expect([run.exitCode, run.err.trimEnd().split("\n")]).toEqual([
    1,
    [
      expect.stringContaining("issues.title: missing"),
      expect.stringContaining("status_history: no enabled trigger status_history_time_insert_trigger"),
      expect.stringContaining("runs: no index on (project_id, created_at, id)"),
      expect.stringContaining("status_history: no enabled trigger status_history_log_update_trigger"),
      expect.stringContaining("issue_notes: no index on (project_id, issue_id, created_at, id)"),
    ],
  ]);
});

/** Returns SQL that recreates the view of notes over `source`. The expression `content` becomes its content column. */
function replaceNotes(source: string, content = "x_content"): string {
  return `
    drop view acme_exports.issue_notes;
    create view acme_exports.issue_notes as
    select x_project_id::uuid as project_id, x_id::uuid as id, x_issue_id::uuid as issue_id, ${content} as content,
      x_note_type as note_type, x_created_by as created_by, x_created_at at time zone 'UTC' as created_at
    from ${source};
    grant select on acme_exports.issue_notes to ulr_app`;
}

const NOTE = `'${crypto.randomUUID()}', '${crypto.randomUUID()}', '${crypto.randomUUID()}'`;
const CALLS = `
  create function acme.plain(x text) returns text stable language sql as 'select x';
  ${replaceNotes("acme.t_issue_notes", "acme.plain(x_content)")}`;

test.each([
  [
    "drop trigger t_issues_time_insert_trigger on acme.t_issues",
    ["acme.t_issues: no enabled insert trigger that executes refuse_wrong_time"],
  ],
  [
    "alter table acme.t_runs disable trigger t_runs_time_update_trigger",
    ["acme.t_runs: no enabled update trigger that executes refuse_wrong_time"],
  ],
  [
    `insert into acme.t_issue_notes (x_project_id, x_id, x_issue_id, x_created_at) values (${NOTE}, now() at time zone 'UTC')`,
    ["issue_notes.content: has nulls", "issue_notes.note_type: has nulls"],
  ],
  [
    "insert into acme.t_issue_notes (x_issue_id, x_created_at) values ('seven', now() at time zone 'UTC')",
    ['issue_notes: cannot be read (invalid input syntax for type uuid: "seven")'],
  ],
  ["alter table acme.t_runs enable row level security", ["acme.t_runs: row security"]],
  [CALLS, ["acme_exports.issue_notes: calls acme.plain(text)"]],
  [
    `create materialized view acme.notes as select * from acme.t_issue_notes; ${replaceNotes("acme.notes")}`,
    ["issue_notes: no index on (project_id, created_at, id)", "acme.notes: a materialized view"],
  ],
  [
    // The joined lookup table needs no time trigger, because the view reads no time from it.
    `create table acme.words (word text primary key);
     ${replaceNotes("acme.t_issue_notes left join acme.words on word = x_note_type", "coalesce(word, x_content)")}`,
    [],
  ],
])("tracker check reports only the problems of a view after %p", async (change, expected) => {
  await using db = await openTestDatabase();
  await moveToForeignTracker(db.owner);
  await db.owner.unsafe(change);
  const run = await runCommand(db.url, ["tracker", "check"], { TRACKER_SCHEMA: FOREIGN_SCHEMA });
  const lines = run.err.split("\n").filter((line) => line !== "");
  expect(lines).toEqual(expected.map((start) => expect.stringContaining(start)));
});

test("tracker check reports a foreign table", async () => {
  await using db = await openTestDatabase();
  await moveToForeignTracker(db.owner);
  await db.admin.unsafe(`
    create extension if not exists file_fdw;
    create server files foreign data wrapper file_fdw;
    create foreign table acme.notes (
      x_project_id text, x_id text, x_issue_id text, x_content text, x_note_type text, x_created_by text,
      x_created_at timestamp
    ) server files options (filename '/dev/null');
    ${replaceNotes("acme.notes")}`);
  const run = await runCommand(db.url, ["tracker", "check"], { TRACKER_SCHEMA: FOREIGN_SCHEMA });
  expect([run.exitCode, run.err]).toEqual([1, expect.stringContaining("acme.notes: a foreign table")]);
});

test("tracker check reports a schema that does not exist", async () => {
  await using db = await openTestDatabase();
  const run = await runCommand(db.url, ["tracker", "check"], { TRACKER_SCHEMA: "nowhere" });
  expect([run.exitCode, run.err]).toEqual([1, expect.stringContaining('schema "nowhere": missing')]);
});

test("tracker distribute reports a missing Citus extension in one line and changes nothing", async () => {
  await using db = await openTestDatabase();
  const run = await runCommand(db.url, ["tracker", "distribute"]);
  expect(run.exitCode).toBe(1);
  expect(run.out).toBe("");
  expect(run.err.trim().split("\n")).toEqual([
    "Cannot distribute the tracker tables: the database has no Citus; run: create extension citus",
  ]);
  expect(await runJson(db.url, ["tracker", "check"])).toMatchObject({ kind: "tables", differences: [] });
});
