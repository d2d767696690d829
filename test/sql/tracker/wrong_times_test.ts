/**
 * Tests times outside the years 1 to 9999. The tables reject them, and `tracker check` finds them in rows that are older than the
 * check constraints. After these rows are corrected, the next migration validates the constraints.
 */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS, NO_FILTERS, toVisibility } from "../../../shared/exports/datasets.ts";
import { openExportSnapshot } from "../../../sql/connection/snapshot.ts";
import { requireRightTimes, WrongTimeError, wrongTimeQuery } from "../../../sql/exports/select_rows.ts";
import { migrate } from "../../../sql/migrate.ts";
import { hasTimeChecks } from "../../../sql/tracker/wrong_times.ts";
import { runCommand } from "../../helpers/accounts/admin.ts";
import { makeExportProject } from "../../helpers/exports/export_project.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../../helpers/exports/foreign_tracker.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";

const TIMES = [
  ["0001-01-01T00:00:00Z", true],
  ["9999-12-31T23:59:59.999Z", true],
  ["0001-12-31T23:59:59.999Z BC", false],
  ["10000-01-01T00:00:00Z", false],
  ["infinity", false],
  ["-infinity", false],
] as const;

const COLUMNS = Object.values(EXPORT_DATASETS).flatMap(({ table, columns }) =>
  columns.filter(({ type }) => type === "timestamp").map(({ column }) => ({ table, column })),
);

test("accepts only times in the years 1 to 9999 in the tracker tables", async () => {
  await using db = await openTestDatabase();
  await makeExportProject({ make: createFactory(db.sql) });
  const accepted: string[] = [];
  for (const { table, column } of COLUMNS) {
    for (const [time] of TIMES) {
      const update = db.owner`update ${db.owner(table)} set ${db.owner(column)} = ${time}`.then(
        () => true,
        (error: { constraint_name: string }) => error.constraint_name === `${table}_${column}_check` && false,
      );
      accepted.push(`${table}.${column} ${time} ${await update}`);
    }
  }
  expect(accepted).toEqual(
    COLUMNS.flatMap(({ table, column }) =>
      TIMES.map(([time, isAccepted]) => `${table}.${column} ${time} ${isAccepted}`),
    ),
  );
});

test("reads no rows to find wrong times if the check constraints are validated", async () => {
  await using db = await openTestDatabase();
  const { project } = await makeExportProject({ make: createFactory(db.sql) });
  const signal = new AbortController().signal;
  const snapshot = await openExportSnapshot(db.sql, { control: db.sql, signal });
  const base = {
    trackerSchema: "public",
    projectId: project.id,
    asOf: new Date().toISOString(),
    visibility: toVisibility({}),
    filters: NO_FILTERS,
  };
  const checks = hasTimeChecks(Object.values(EXPORT_DATASETS), ({ table }) => `public.${table}`);
  const [checked] = await snapshot.run((tx) => tx.unsafe(`select ${checks} as is_checked`));
  expect(checked?.["isChecked"]).toBe(true);
  for (const dataset of Object.values(EXPORT_DATASETS)) {
    for (const since of [null, "2026-01-01T00:00:00.000Z"]) {
      const query = wrongTimeQuery(dataset, { ...base, since });
      await snapshot.run((tx) => tx.unsafe("set local constraint_exclusion = on"));
      const lines = await snapshot.run((tx) => tx.unsafe(`explain (costs off) ${query}`));
      const plan = lines.map((line) => Object.values(line).join("")).join("\n");
      expect(plan).toContain("One-Time Filter: false");
      expect(plan).not.toContain("Scan");
    }
  }
  await snapshot.close();
});

test("detects on an open connection that a table was replaced by a table without check constraints", async () => {
  await using db = await openTestDatabase();
  const { project } = await makeExportProject({ make: createFactory(db.sql) });
  const selection = {
    trackerSchema: "public",
    projectId: project.id,
    asOf: new Date().toISOString(),
    visibility: toVisibility({}),
    filters: NO_FILTERS,
  };
  const pool = db.openPool({ applicationName: "test", max: 1 });
  const ask = () => pool.begin("read only", (tx) => requireRightTimes(tx, selection));
  // From the sixth execution on, PostgreSQL may reuse a generic plan.
  for (let time = 0; time < 7; time += 1) await ask();
  await db.owner.begin(async (tx) => {
    await tx`alter table issues rename to former_issues`;
    await tx`create table issues (like former_issues including defaults)`;
    await tx`insert into issues select * from former_issues`;
    await tx`update issues set resolved_at = '0044-03-15 BC' where deleted_at is null`;
    await tx`grant select on issues to public`;
  });
  await expect(ask()).rejects.toThrow(WrongTimeError);
});

/** Creates an issue with a BC time, as if the row were older than the check constraints. Returns the id. */
async function makeOldTime(db: TestDatabase): Promise<string> {
  const { ids } = await makeExportProject({ make: createFactory(db.sql) });
  const id = ids["open issue"] ?? "";
  const [check] = await db.owner<[{ definition: string }]>`
    select pg_get_constraintdef(oid) as definition from pg_constraint
    where conname = 'issues_resolved_at_check' and conrelid = 'issues'::regclass`;
  await db.owner`alter table issues drop constraint issues_resolved_at_check`;
  await db.owner`update issues set resolved_at = '0044-03-15 BC' where id = ${id}`;
  await db.owner.unsafe(
    `alter table issues add constraint issues_resolved_at_check ${check.definition} not valid`,
  );
  return id;
}

test("reports wrong times older than the check constraints, and validates the constraints after a correction", async () => {
  await using db = await openTestDatabase();
  const id = await makeOldTime(db);
  const notices: string[] = [];
  const onNotice = (message: string) => void notices.push(message);
  const isValidated = async () => {
    const [row] = await db.owner`
      select bool_and(convalidated) as validated from pg_constraint where conrelid = 'issues'::regclass`;
    return row?.["validated"];
  };
  await migrate(db.owner, { onNotice });
  expect([notices, await isValidated()]).toEqual([
    [
      'Table "issues" has times outside the years 1 to 9999, so exports of these rows are refused. Find them: bun run admin tracker check',
    ],
    false,
  ]);
  const check = await runCommand(db.url, ["tracker", "check"]);
  const [found = "", ...others] = check.err.trimEnd().split("\n");
  expect(found).toStartWith(
    `issues.resolved_at: row ${id} has 0044-03-15 00:00:00+00 BC, outside the years 1 to 9999`,
  );
  expect(others).toEqual([expect.stringMatching(/^issues: its checks of times are not validated/)]);
  // The query in the message finds the row.
  const [, query = ""] = /Find all: (.*)$/.exec(found) ?? [];
  expect(await db.sql.unsafe(query)).toMatchObject([{ id }]);

  await db.owner`update issues set resolved_at = '2026-03-15' where id = ${id}`;
  expect((await runCommand(db.url, ["tracker", "check"])).err).toStartWith("issues: its checks of times");
  await migrate(db.owner, { onNotice });
  expect([notices.length, await isValidated()]).toEqual([1, true]);
  expect((await runCommand(db.url, ["tracker", "check"])).exitCode).toBe(0);
});

test("tracker check reports wrong times in another tracker, whose tables have no check constraints", async () => {
  await using db = await openTestDatabase();
  await makeExportProject({ make: createFactory(db.sql) });
  await moveToForeignTracker(db.owner);
  await db.owner`update acme.t_runs set x_timestamp = '20231-05-01', x_updated_at = 'infinity'`;
  const { exitCode, err } = await runCommand(db.url, ["tracker", "check"], {
    TRACKER_SCHEMA: FOREIGN_SCHEMA,
  });
  expect(exitCode).toBe(1);
  expect(err.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^runs\.timestamp: row [0-9a-f-]{36} has 20231-05-01 00:00:00\+00, outside/),
    expect.stringMatching(/^runs\.updated_at: row [0-9a-f-]{36} has infinity, outside/),
  ]);
});
