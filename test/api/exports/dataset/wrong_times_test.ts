/** Rows with a time outside the years 1 to 9999. An export that contains such a row is refused before its first byte. */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS } from "../../../../shared/exports/datasets.ts";
import { EXPORT_FORMATS } from "../../../../shared/vocabulary.ts";
import { getJob, jobOf, postJob } from "../../../helpers/exports/export_job.ts";
import {
  AFTER_ALL,
  type ExportProject,
  exportDataset,
  makeExportProject,
} from "../../../helpers/exports/export_project.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../../../helpers/exports/foreign_tracker.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

/** Drops the check constraints on time columns, to simulate tables that are older than these constraints. */
async function dropTimeChecks(app: TestApp): Promise<void> {
  for (const { table, columns } of Object.values(EXPORT_DATASETS)) {
    for (const { column, type } of columns) {
      if (type !== "timestamp") continue;
      await app.db.owner.unsafe(`alter table ${table} drop constraint ${table}_${column}_check`);
    }
  }
}

async function openWrongProject(app: TestApp): Promise<ExportProject & { row: object }> {
  const made = await makeExportProject(app);
  await dropTimeChecks(app);
  const id = made.ids["completed issue"] ?? "";
  await app.db.owner`update issues set resolved_at = '0044-03-15 BC' where id = ${id}`;
  return { ...made, row: { dataset: "issues", column: "resolvedAt", id, time: "0044-03-15 00:00:00+00 BC" } };
}

async function refusalOf(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: object };
  return { status: response.status, ...error, requestId: undefined };
}

test("datasets, bundles and estimates with a time that cannot be exported return 422, the row and the remedy", async () => {
  await using app = await openTestApp();
  const { row, ...made } = await openWrongProject(app);
  const { project, ids } = made;
  const refusal = {
    status: 422,
    code: "UNPROCESSABLE_ENTITY",
    message:
      `resolvedAt of row ${ids["completed issue"]} of issues is 0044-03-15 00:00:00+00 BC, outside the years 1 to 9999. Correct ` +
      `it in the tracker, in table "issues" of project ${project.id}, then export again.`,
    details: { reason: "time", ...row },
    requestId: undefined,
  };
  for (const format of EXPORT_FORMATS) {
    for (const path of ["issues", "bundle", "estimate"] as const) {
      const response = await exportDataset(app, made, path, `?format=${format}&as_of=${AFTER_ALL}`);
      expect(await refusalOf(response)).toEqual(refusal);
    }
  }
  const since = new Date(Date.now() - 3_600_000).toISOString();
  expect(await refusalOf(await exportDataset(app, made, "issues", `?since=${since}`))).toEqual(refusal);
});

test("an invalid time in a row that the export excludes is ignored", async () => {
  await using app = await openTestApp();
  const made = await openWrongProject(app);
  const without = "&include_resolved=false";
  for (const path of ["issues", "bundle"] as const) {
    const response = await exportDataset(app, made, path, `?as_of=${AFTER_ALL}${without}`);
    expect([response.status, (await response.bytes()).length > 0]).toEqual([200, true]);
  }
  const others = await exportDataset(app, made, "runs", `?as_of=${AFTER_ALL}`);
  expect([others.status, (await others.text()).split("\n").length]).toEqual([200, 2]);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const increment = await exportDataset(app, made, "issues", `?since=${since}${without}`);
  expect([increment.status, (await increment.text()).split("\n").length]).toEqual([200, 2]);
});

const EVERYTHING = ["include_deleted", "include_archived", "include_superseded"];

/** All time columns except `timeColumn`, because a row whose `timeColumn` is infinity is after every cutoff. */
const COLUMNS = Object.values(EXPORT_DATASETS).flatMap(({ name, table, timeColumn, columns, flags }) =>
  columns
    .filter(({ type, column }) => type === "timestamp" && column !== timeColumn)
    .map(({ column, name: jsonName }) => ({
      ...{ dataset: name, table, column, jsonName },
      query: `?as_of=${AFTER_ALL}${flags.map((flag) => (EVERYTHING.includes(flag) ? `&${flag}=true` : "")).join("")}`,
    })),
);

test.each(["public", FOREIGN_SCHEMA])(
  "every time column is checked with the tracker in schema %s",
  async (trackerSchema) => {
    await using app = await openTestApp({ config: { rateLimitUserPerMinute: 10_000, trackerSchema } });
    const made = await makeExportProject(app);
    const isOwn = trackerSchema === "public";
    if (isOwn) await dropTimeChecks(app);
    else await moveToForeignTracker(app.db.owner);
    for (const { dataset, table, column, jsonName, query } of COLUMNS) {
      const target = isOwn ? `${table} set "${column}"` : `acme.t_${table} set "x_${column}"`;
      await app.db.owner.unsafe(`update ${target} = 'infinity'`);
      const refusal = await refusalOf(await exportDataset(app, made, dataset, query));
      expect(refusal).toMatchObject({
        status: 422,
        details: { dataset, column: jsonName, time: "infinity" },
      });
      await app.db.owner.unsafe(`update ${target} = '2026-01-10T10:00:00Z'`);
    }
  },
);

test("a job with an invalid time fails on its first attempt and names the row, but a job that excludes the row succeeds", async () => {
  await using app = await openTestApp();
  const made = await openWrongProject(app);
  await using _runner = await openTestRunner(app, { isWorking: true });
  const build = async (flags: object) => {
    const { id } = await jobOf(await postJob(app, made.person, { as_of: AFTER_ALL, ...flags }));
    const isOver = async () => ["ready", "failed"].includes((await getJob(app, made.person.key, id)).status);
    await waitFor(isOver);
    return getJob(app, made.person.key, id);
  };
  expect(await build({})).toMatchObject({
    status: "failed",
    attempt: 1,
    errorCode: "BUILD_FAILED",
    errorMessage: expect.stringMatching(
      /^resolvedAt of row \S+ of issues is 0044-03-15 00:00:00\+00 BC, outside/,
    ),
  });
  expect(await build({ include_resolved: false })).toMatchObject({ status: "ready" });
});
