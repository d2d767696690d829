/** The snapshots from which the projects of an organization export are read. */
import { expect, test } from "bun:test";
import { BuildSnapshots, SHARED_MS } from "../../jobs/build_snapshots.ts";
import { EXPORT_DATASET_NAMES } from "../../shared/exports/datasets.ts";
import type { ExportJobRow } from "../../sql/exports/jobs.ts";
import { ChangeLogDeletedError } from "../../sql/exports/tracker_changes.ts";
import { isTrackerDistributed } from "../../sql/tracker/distribute_tracker.ts";
import { jobOf, postJob } from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { openTestApp } from "../helpers/http/app.ts";

test("neighbors are read from one snapshot for a while, and only their datasets that have rows", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const owned = { orgId: person.org.id, ownerId: person.user.id };
  const empty = await app.make.project(owned);
  const noted = await app.make.project(owned);
  const gone = await app.make.project({ ...owned, deletedAt: "2026-01-01T00:00:00.000Z" });
  const late = await app.make.project(owned);
  const issue = await app.make.issue({ projectId: noted.id });
  await app.make.note({ projectId: noted.id, issueId: issue.id });
  const job = (await jobOf(await postJob(app, person))) as unknown as ExportJobRow;
  const database = new BuildSnapshots(app.deps, {
    job: { ...job, attempt: 1, orgId: person.org.id, since: null },
    signal: new AbortController().signal,
    projectIds: [project, empty, noted, gone, late].map(({ id }) => id),
  });
  const first = await database.sourceOf(project.id);
  expect([...(first?.datasets ?? [])]).toEqual([...EXPORT_DATASET_NAMES]);
  expect((await database.sourceOf(empty.id))?.datasets.size).toBe(0);
  const third = await database.sourceOf(noted.id);
  expect([...(third?.datasets ?? [])]).toEqual(["issues", "issue-notes"]);
  // On a cluster, each project is read on its node.
  expect(third?.snapshot === first?.snapshot).toBe(!(await isTrackerDistributed(app.db.sql)));
  expect(await database.sourceOf(gone.id)).toBeNull();
  await Bun.sleep(SHARED_MS);
  await app.make.issue({ projectId: late.id });
  const last = await database.sourceOf(late.id);
  expect([...(last?.datasets ?? [])]).toEqual(["issues"]);
  expect(last?.snapshot).not.toBe(first?.snapshot);
  await database.close();
  await expect(first?.snapshot.run((tx) => tx`select`)).rejects.toThrow("closed");
  await expect(last?.snapshot.run((tx) => tx`select`)).rejects.toThrow("closed");
});

test("a project that is deleted while a snapshot is shared stays in the file; one deleted before is left out", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const second = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const job = (await jobOf(await postJob(app, person))) as unknown as ExportJobRow;
  const build = {
    job: { ...job, attempt: 1, orgId: person.org.id, since: null },
    signal: new AbortController().signal,
  };
  const database = new BuildSnapshots(app.deps, { ...build, projectIds: [project.id, second.id] });
  await database.sourceOf(project.id);
  await app.db.sql`update projects set deleted_at = now() where id = ${second.id}`;
  expect((await database.sourceOf(second.id)) === null).toBe(await isTrackerDistributed(app.db.sql));
  await database.close();
  const later = new BuildSnapshots(app.deps, { ...build, projectIds: [second.id] });
  expect(await later.sourceOf(second.id)).toBeNull();
  await later.close();
});

test("each snapshot of an increment must have the changes after its start", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const second = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const queued = (await jobOf(await postJob(app, person))) as unknown as ExportJobRow;
  const day = 24 * 3_600_000;
  const job = {
    ...queued,
    attempt: 1,
    orgId: person.org.id,
    since: new Date(Date.now() - 90 * day).toISOString(),
  };
  const projectIds = [project.id, second.id];
  const database = new BuildSnapshots(app.deps, { job, signal: new AbortController().signal, projectIds });
  expect(await database.sourceOf(project.id)).not.toBeNull();
  await Bun.sleep(SHARED_MS);
  job.since = new Date(Date.now() - 92 * day).toISOString();
  const later = database.sourceOf(second.id);
  expect(await later.catch((error: unknown) => error)).toBeInstanceOf(ChangeLogDeletedError);
  await database.close();
});
