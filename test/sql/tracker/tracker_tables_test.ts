/** Tests exports of a tracker whose tables have other names and types, through views in TRACKER_SCHEMA. */
import { expect, test } from "bun:test";
import { EXPORT_DATASET_NAMES } from "../../../shared/exports/datasets.ts";
import { settleAsOf } from "../../../sql/exports/settle_as_of.ts";
import { trackerIsTables } from "../../../sql/tracker/tracker_tables.ts";
import { runCommand } from "../../helpers/accounts/admin.ts";
import { downloadJob, getJob, jobOf, postJob, unzip } from "../../helpers/exports/export_job.ts";
import { AFTER_ALL, exportDataset, makeExportProject } from "../../helpers/exports/export_project.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../../helpers/exports/foreign_tracker.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openLoginRole } from "../../helpers/postgres/login_role.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";

type Made = Awaited<ReturnType<typeof makeExportProject>>;

/** Returns the content of all exports of a project, by export and format, and the estimate. */
async function exportEverything(app: TestApp, made: Made): Promise<Record<string, unknown>> {
  const texts: Record<string, unknown> = {};
  for (const format of ["ndjson", "csv"] as const) {
    const query = `?as_of=${AFTER_ALL}&format=${format}`;
    for (const dataset of EXPORT_DATASET_NAMES) {
      const response = await exportDataset(app, made, dataset, query);
      expect(response.status).toBe(200);
      texts[`${dataset} ${format}`] = await response.text();
    }
    const bundle = await exportDataset(app, made, "bundle", query);
    texts[`bundle ${format}`] = [...(await unzip(await bundle.arrayBuffer()))];
    await using runner = await openTestRunner(app);
    const job = await jobOf(await postJob(app, made.person, { format, as_of: AFTER_ALL }));
    await runner.build(job.id);
    expect((await getJob(app, made.person.key, job.id)).status).toBe("ready");
    const file = await downloadJob(app, made.person.key, job.id);
    texts[`job ${format}`] = [...(await unzip(await file.arrayBuffer()))];
  }
  const estimate = await exportDataset(app, made, "estimate", `?as_of=${AFTER_ALL}`);
  texts["estimate"] = ((await estimate.json()) as { data: unknown }).data;
  return texts;
}

test("exports the same files through views as from tables with the same rows", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const expected = await exportEverything(app, made);
  expect(String(expected["issues ndjson"]).split("\n").length).toBeGreaterThan(2);
  await moveToForeignTracker(app.db.owner);
  app.deps.config.trackerSchema = FOREIGN_SCHEMA;
  expect(await exportEverything(app, made)).toEqual(expected);
  expect(await trackerIsTables(app.db.sql, FOREIGN_SCHEMA)).toBe(false);
});

test("escapes CSV formulas in enum columns of a view, where no constraint checks the values", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  await moveToForeignTracker(app.db.owner);
  app.deps.config.trackerSchema = FOREIGN_SCHEMA;
  const view = `${FOREIGN_SCHEMA}.issues`;
  const [{ definition }] = await app.db.owner<[{ definition: string }]>`
    select pg_get_viewdef(${view}::regclass) as definition`;
  await app.db.owner.unsafe(`
    alter table acme.t_issues disable trigger all;
    update acme.t_issues set x_status = '=1+1', x_severity = '@SUM(1)', x_priority = '-2+3';
    create type acme.priority as enum ('-2+3');
    drop view ${view};
    create view ${view} as ${definition.replace("x_priority AS", "x_priority::acme.priority AS")};
    grant usage on schema acme to ulr_app;
    grant select on ${view} to ulr_app`);
  const issues = await exportDataset(app, made, "issues", `?as_of=${AFTER_ALL}&format=csv`);
  const csv = await issues.text();
  for (const word of ["=1+1", "@SUM(1)", "-2+3"]) expect(csv).toContain(`"'${word}"`);
});

test("holds back the cutoff for an open transaction by a role that can write only the tables behind the views", async () => {
  await using app = await openTestApp();
  await makeExportProject(app);
  await moveToForeignTracker(app.db.owner);
  await using tracker = await openLoginRole(app.db);
  await app.db.owner.unsafe(`
    grant usage on schema acme to ${tracker.name};
    grant insert on acme.t_runs to ${tracker.name}`);
  await tracker.sql.begin(async (tx) => {
    const [{ now }] = await tx<[{ now: string }]>`select now() as now`;
    const held = await settleAsOf(app.deps.sql, {
      trackerSchema: FOREIGN_SCHEMA,
      ignoredApplications: ["test"],
    });
    expect(held.blockers).toMatchObject([{ applicationName: "acme" }]);
    expect(held.ok && held.asOf < now).toBe(true);
  });
});

test("import and demo seed fail if TRACKER_SCHEMA is a schema of views", async () => {
  await using app = await openTestApp();
  for (const words of [
    ["demo", "seed"],
    ["import", "--org", "x", "none.zip"],
  ]) {
    const run = await runCommand(app.db.url, words, { TRACKER_SCHEMA: FOREIGN_SCHEMA });
    expect([run.exitCode, run.err]).toEqual([1, expect.stringContaining('TRACKER_SCHEMA is "acme_exports"')]);
  }
});
