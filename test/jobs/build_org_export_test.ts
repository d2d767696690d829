import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { EXPORT_DATASET_NAMES } from "../../shared/exports/datasets.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../shared/vocabulary.ts";
import {
  downloadJob,
  getJob,
  jobOf,
  listAudited,
  listMismatches,
  postJob,
  unzip,
} from "../helpers/exports/export_job.ts";
import {
  AFTER_ALL,
  type ExportProject,
  exportDataset,
  makeExportProject,
} from "../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { openContract } from "../helpers/http/contract.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";
import { waitFor } from "../helpers/wait_for.ts";

async function queueAfterAll(app: TestApp, caller: Parameters<typeof postJob>[1], body: object = {}) {
  return jobOf(await postJob(app, caller, { as_of: AFTER_ALL, ...body }));
}

interface ProjectPart {
  directory: string;
  rowCounts: Record<string, number>;
  files: Record<string, unknown>;
}

/** Compares a project's files and its part of the manifest with exports of the datasets. Returns the total rows and bytes. */
async function checkPart(
  app: TestApp,
  given: Pick<ExportProject, "person" | "project"> & { format: ExportFormat; part: ProjectPart },
  files: ReadonlyMap<string, string>,
): Promise<{ rows: number; bytes: number }> {
  const { format, part } = given;
  const sums = { rows: 0, bytes: 0 };
  for (const dataset of EXPORT_DATASET_NAMES) {
    const name = `${dataset}.${format}`;
    const response = await exportDataset(app, given, dataset, `?as_of=${AFTER_ALL}&format=${format}`);
    const rows = Number(response.headers.get("x-export-total-rows"));
    const content = Buffer.from(await response.arrayBuffer());
    const sha256 = createHash("sha256").update(content).digest("hex");
    expect(files.get(`${part.directory}/${name}`)).toBe(new TextDecoder().decode(content));
    expect(part.rowCounts[dataset]).toBe(rows);
    expect(part.files[dataset]).toEqual({ name, rows, bytes: content.length, sha256 });
    sums.rows += rows;
    sums.bytes += content.length;
  }
  return sums;
}

/** Creates an organization with three projects: one with rows, one without rows, and one that is deleted. */
async function makeOrg(app: TestApp) {
  const made = await makeExportProject(app);
  const { person, project } = made;
  const owned = { orgId: person.org.id, ownerId: person.user.id };
  const empty = await app.make.project({ ...owned, name: "空 / ../=x" });
  await app.make.project({ ...owned, name: "Gone", deletedAt: AFTER_ALL });
  const title = 'two\nlines, a "quote"';
  await app.make.issue({ projectId: project.id, createdAt: "2026-01-11T00:00:00.000Z", title });
  const directories = [
    `${project.name.replace(" ", "-")}__${project.id.slice(0, 8)}`,
    `x__${empty.id.slice(0, 8)}`,
  ];
  return { person, projects: [project, empty], directories };
}

for (const format of EXPORT_FORMATS) {
  test(`builds a ZIP with a manifest and each project's ${format} files, identical to single exports`, async () => {
    await using app = await openTestApp();
    const { person, projects, directories } = await makeOrg(app);
    await using _runner = await openTestRunner(app, { isWorking: true });
    const { id } = await queueAfterAll(app, person, { format });
    await waitFor(async () => (await getJob(app, person.key, id)).status === "ready");
    const job = await getJob(app, person.key, id);
    const bytes = await (await downloadJob(app, person.key, id)).arrayBuffer();
    const files = await unzip(bytes);
    expect([...files.keys()]).toEqual([
      ...directories.flatMap((directory) =>
        EXPORT_DATASET_NAMES.map((dataset) => `${directory}/${dataset}.${format}`),
      ),
      "README.md",
      "schema.json",
      "manifest.json",
    ]);
    const manifest = JSON.parse(files.get("manifest.json") ?? "");
    const contract = await openContract(app.app);
    expect(contract.validate(["components", "schemas", "OrganizationManifest"], manifest)).toBeNull();
    const { projects: parts, totals, ...head } = manifest;
    const { id: orgId, slug, name } = person.org;
    expect(head).toEqual({
      schemaVersion: 1,
      kind: "organization",
      asOf: AFTER_ALL,
      since: null,
      nextSince: AFTER_ALL,
      coherence: "insert-level",
      format,
      organization: { id: orgId, slug, name },
      visibility: job.visibility,
    });
    const readme = files.get("README.md") ?? "";
    expect(readme).toContain(`Issue-tracker data of 2 projects, organization `);
    expect(readme).toContain(`(${slug}), as of ${AFTER_ALL}.`);
    expect(readme).toContain(`| issues.${format} | `);
    expect(readme).toContain(
      "## How to open the files\n\nRun the commands in the directory of a project.\n\n",
    );
    expect(Object.keys(JSON.parse(files.get("schema.json") ?? ""))).toEqual([...EXPORT_DATASET_NAMES]);
    const sums = { projects: 2, rows: 0, bytes: 0 };
    for (const [index, project] of projects.entries()) {
      const part = parts[index];
      expect(part).toMatchObject({
        directory: directories[index],
        project: { id: project.id, name: project.name },
      });
      const { rows, bytes: size } = await checkPart(app, { person, project, format, part }, files);
      sums.rows += rows;
      sums.bytes += size;
    }
    expect(totals).toEqual(sums);
    const sha256 = createHash("sha256").update(Buffer.from(bytes)).digest("hex");
    expect(job).toMatchObject({
      attempt: 1,
      progress: { projectsDone: 2, projectsTotal: 2, rowsWritten: sums.rows, bytesWritten: bytes.byteLength },
      artifact: { fileName: `${slug}-export-2026-02-01T000000Z.zip`, bytes: bytes.byteLength, sha256 },
    });
    expect(Date.parse(job.expiresAt ?? "") - Date.parse(job.readyAt ?? "")).toBe(72 * 3_600_000);
    expect(await listMismatches(app)).toEqual([]);
    expect(await listAudited(app, id)).toMatchObject([
      { action: "export_job.queue" },
      { action: "export_job.ready", actorUserId: null },
      { action: "export_job.download" },
    ]);
  });
}

test("excludes a project that is deleted while the export is being built", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const { person } = made;
  const gone = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const job = await queueAfterAll(app, person);
  await using runner = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      async write(key, content) {
        // At this point, the build has listed the projects but has read none of them.
        await app.db.sql`update projects set deleted_at = now() where id = ${gone.id}`;
        return store.write(key, content);
      },
    }),
  });
  await runner.build(job.id);
  const files = await unzip(await (await downloadJob(app, person.key, job.id)).arrayBuffer());
  const manifest = JSON.parse(files.get("manifest.json") ?? "");
  expect(manifest.projects.map(({ project }: { project: { id: string } }) => project.id)).toEqual([
    made.project.id,
  ]);
  expect(files.size).toBe(11);
  const { progress } = await getJob(app, person.key, job.id);
  expect(progress).toMatchObject({ projectsDone: 1, projectsTotal: 1 });
});

test("two jobs with the same cutoff produce the same bytes, although a row is created in between", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  await using runner = await openTestRunner(app);
  const hashes = new Set<string | undefined>();
  for (let count = 0; count < 2; count += 1) {
    const { id } = await queueAfterAll(app, person);
    await app.make.issue({ projectId: project.id });
    await runner.build(id);
    hashes.add((await getJob(app, person.key, id)).artifact?.sha256);
  }
  expect(hashes.size).toBe(1);
});

test("a job with since exports the changed and deleted rows of each project", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const { person, ids } = made;
  await using _runner = await openTestRunner(app, { isWorking: true });
  const build = async (body: object) => {
    const { id } = await jobOf(await postJob(app, person, body));
    await waitFor(async () => (await getJob(app, person.key, id)).status === "ready");
    const job = await getJob(app, person.key, id);
    return { job, files: await unzip(await (await downloadJob(app, person.key, id)).arrayBuffer()) };
  };
  const { job: full } = await build({});
  await app.db.sql`update issues set title = 'renamed' where id = ${ids["open issue"] ?? ""}`;
  await app.db.sql`delete from issue_notes where id = ${ids["open note"] ?? ""}`;
  const { job, files } = await build({ since: full.asOf });
  expect(job).toMatchObject({ since: full.asOf });
  const manifest = JSON.parse(files.get("manifest.json") ?? "");
  const contract = await openContract(app.app);
  expect(contract.validate(["components", "schemas", "OrganizationManifest"], manifest)).toBeNull();
  expect(manifest).toMatchObject({ since: full.asOf, nextSince: job.asOf });
  const [{ directory, rowCounts, deleted }] = manifest.projects;
  expect(rowCounts).toMatchObject({ issues: 1, runs: 0, occurrences: 0 });
  expect(deleted).toMatchObject({ name: "deleted.ndjson", rows: 1 });
  const gone = JSON.parse(files.get(`${directory}/deleted.ndjson`) ?? "");
  expect(gone).toMatchObject({ dataset: "issue-notes", id: ids["open note"] });
  const readme = files.get("README.md") ?? "";
  expect(readme).toContain("Delete the rows that `deleted.ndjson` lists, by project, dataset and id.");
  expect(readme).toContain("Delete the rows of projects that `manifest.json` does not list.");
  const tooOld = await postJob(app, person, { since: "2020-01-01T00:00:00Z" });
  expect(await tooOld.json()).toMatchObject({ error: { details: { reason: "since_too_old" } } });
});
