/** An organization export contains everything that is needed to recreate the organization in another database. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runJson } from "../helpers/accounts/admin.ts";
import { NASTY_TEXTS } from "../helpers/definitions/nasty_text.ts";
import { downloadJob, jobOf, postJob, unzip } from "../helpers/exports/export_job.ts";
import { AFTER_ALL, makeExportProject } from "../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import type { Person } from "../helpers/postgres/factory.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";

/** Flags that include hidden rows. */
const EVERYTHING = { include_deleted: true, include_archived: true, include_superseded: true };

async function exportAll(app: TestApp, person: Person): Promise<ArrayBuffer> {
  const { id } = await jobOf(await postJob(app, person, { as_of: AFTER_ALL, ...EVERYTHING }));
  await using runner = await openTestRunner(app);
  await runner.build(id);
  return await (await downloadJob(app, person.key, id)).arrayBuffer();
}

/** Returns the files that do not name the organization, and the manifest's data about the projects. */
async function contentOf(zip: ArrayBuffer) {
  const files = await unzip(zip);
  const { projects, totals } = JSON.parse(files.get("manifest.json") ?? "");
  files.delete("manifest.json");
  expect(files.delete("README.md")).toBe(true);
  return { files, projects, totals };
}

test("an organization export imported into another database produces an identical export there", async () => {
  await using here = await openTestApp();
  const { person, project } = await makeExportProject(here);
  const owned = { orgId: person.org.id, ownerId: person.user.id };
  const second = await here.make.project({ ...owned, name: "空 / ../=x" });
  for (const text of NASTY_TEXTS) {
    const title = `x${text}`.slice(0, 500);
    await here.make.issue({ projectId: second.id, createdAt: "2026-01-11T00:00:00.000Z", title });
  }
  await here.make.project({ ...owned, name: "Empty" });
  const exported = await exportAll(here, person);
  const path = join(here.deps.config.dataDir, "export.zip");
  await Bun.write(path, exported);

  await using there = await openTestApp();
  const owner = await there.make.person();
  const { projects } = await runJson<{ projects: { id: string }[] }>(there.db.url, [
    ...["import", "--org", owner.org.slug, path],
  ]);
  expect(projects.map(({ id }) => id)).toEqual(expect.arrayContaining([project.id, second.id]));
  const before = await contentOf(exported);
  const after = await contentOf(await exportAll(there, owner));
  expect(before.totals).toMatchObject({ projects: 3 });
  expect(before.totals.rows).toBeGreaterThan(NASTY_TEXTS.length);
  expect(after).toEqual(before);
});
