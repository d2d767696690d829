import { expect, test } from "bun:test";
import { unzip } from "../../helpers/exports/export_job.ts";
import { AFTER_ALL, exportDataset, makeExportProject } from "../../helpers/exports/export_project.ts";
import { openTestApp } from "../../helpers/http/app.ts";

test("an estimate counts the bundle's rows and, for a small project, its exact bytes", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const response = await exportDataset(app, made, "estimate", `?as_of=${AFTER_ALL}&include_archived=true`);
  const { data } = (await response.json()) as { data: Record<string, unknown> };
  const bundle = await exportDataset(app, made, "bundle", `?as_of=${AFTER_ALL}&include_archived=true`);
  const files = await unzip(await bundle.arrayBuffer());
  const manifest = JSON.parse(files.get("manifest.json") ?? "");
  expect(data).toMatchObject({ asOf: AFTER_ALL, rowCounts: manifest.rowCounts, syncAllowed: true });
  const bytes = Object.values<{ bytes: number }>(manifest.files).reduce((sum, file) => sum + file.bytes, 0);
  // The sample of a hundred rows covers all rows, so the estimate is exact.
  expect(data["estimatedBytes"]).toBe(bytes);
});
