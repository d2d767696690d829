/** Export paths that contain the name of the project, or the format as a file extension. */
import { expect, test } from "bun:test";
import { errorOf } from "../../helpers/exports/export_job.ts";
import { makeExportProject } from "../../helpers/exports/export_project.ts";
import { openTestApp } from "../../helpers/http/app.ts";

async function fileOf(response: Response) {
  const { status, headers } = response;
  const kept = ["content-type", "content-disposition", "x-export-as-of", "x-export-total-rows"];
  return [status, kept.map((name) => headers.get(name)), Buffer.from(await response.arrayBuffer())] as const;
}

test("a file extension in the path has the same effect as format in the query", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const get = (path: string) =>
    app.request(`/api/v1/export/projects/${project.id}/${path}`, { key: person.key });
  const [, [, , cutoff]] = await fileOf(await get("issues"));
  for (const [name, format] of [
    ["issues", "csv"],
    ["issue-notes", "parquet"],
  ]) {
    const ended = await fileOf(await get(`${name}.${format}?as_of=${cutoff}`));
    const asked = await fileOf(await get(`${name}?format=${format}&as_of=${cutoff}`));
    expect([name, ended[0], ended[2].length > 0]).toEqual([name, 200, true]);
    expect([name, ...ended]).toEqual([name, ...asked]);
  }
});

test("a path with a file extension refuses a format in the query, and an unknown extension returns 404", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const get = async (path: string) =>
    errorOf(await app.request(`/api/v1/export/projects/${project.id}/${path}`, { key: person.key }));
  for (const path of ["issues.csv?format=csv", "issues.parquet?format=csv", "deleted.csv?format=ndjson"]) {
    expect([path, ...(await get(path))]).toEqual([path, 400, "VALIDATION_ERROR"]);
  }
  for (const path of ["issues.xlsx", "issues.ndjson", "issues.csv.csv", ".csv", "deleted.parquet"]) {
    expect([path, ...(await get(path))]).toEqual([path, 404, "NOT_FOUND"]);
  }
});

test("a project is found by a name of maximum length, counted in characters instead of UTF-16 units", async () => {
  await using app = await openTestApp();
  const person = await app.make.person({ role: "publisher" });
  await app.make.project({ orgId: person.org.id, ownerId: person.user.id, name: "😀".repeat(200) });
  const get = async (length: number) => {
    const name = encodeURIComponent("😀".repeat(length));
    const headers = { "X-Org-Slug": person.org.slug };
    return app.request(`/api/v1/export/projects/${name}/runs`, { key: person.key, headers });
  };
  expect((await get(200)).status).toBe(200);
  expect(await errorOf(await get(201))).toEqual([404, "PROJECT_NOT_FOUND"]);
});
