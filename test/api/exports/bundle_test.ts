import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { EXPORT_DATASET_NAMES } from "../../../shared/exports/datasets.ts";
import { EXPORT_FORMATS } from "../../../shared/vocabulary.ts";
import { unzip } from "../../helpers/exports/export_job.ts";
import { AFTER_ALL, exportDataset, makeExportProject } from "../../helpers/exports/export_project.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openContract } from "../../helpers/http/contract.ts";

test("a bundle contains the eight datasets as exported individually, followed by README, schemas and manifest", async () => {
  await using app = await openTestApp();
  const contract = await openContract(app.app);
  const made = await makeExportProject(app);
  const { person, project } = made;
  for (const format of EXPORT_FORMATS) {
    const query = `?as_of=${AFTER_ALL}&format=${format}&include_deleted=true`;
    const response = await exportDataset(app, made, "bundle", query);
    expect(response.headers.get("content-type")).toBe("application/zip");
    expect(response.headers.get("x-export-as-of")).toBe(AFTER_ALL);
    const totalRows = Number(response.headers.get("x-export-total-rows"));
    const files = await unzip(await response.arrayBuffer());
    expect([...files.keys()]).toEqual([
      ...EXPORT_DATASET_NAMES.map((dataset) => `${dataset}.${format}`),
      "README.md",
      "schema.json",
      "manifest.json",
    ]);
    const manifest = JSON.parse(files.get("manifest.json") ?? "");
    expect(contract.validate(["components", "schemas", "Manifest"], manifest)).toBeNull();
    expect(manifest).toMatchObject({
      schemaVersion: 1,
      kind: "project",
      asOf: AFTER_ALL,
      coherence: "insert-level",
      format,
      project: { id: project.id, name: project.name },
      organization: { id: person.org.id, slug: person.org.slug, name: person.org.name },
      visibility: {
        includeDeleted: true,
        includeArchived: false,
        includeSuperseded: false,
        includeResolved: true,
      },
    });
    let rows = 0;
    for (const dataset of EXPORT_DATASET_NAMES) {
      const flag = dataset.startsWith("issue") || dataset === "occurrences" || dataset === "status-history";
      const single = await exportDataset(
        app,
        made,
        dataset,
        `?as_of=${AFTER_ALL}&format=${format}${flag ? "&include_deleted=true" : ""}`,
      );
      const bytes = Buffer.from(await single.arrayBuffer());
      expect(files.get(`${dataset}.${format}`)).toBe(new TextDecoder().decode(bytes));
      expect(manifest.files[dataset]).toEqual({
        name: `${dataset}.${format}`,
        rows: Number(single.headers.get("x-export-total-rows")),
        bytes: bytes.byteLength,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      });
      expect(manifest.rowCounts[dataset]).toBe(manifest.files[dataset].rows);
      rows += manifest.rowCounts[dataset];
    }
    expect(totalRows).toBe(rows);
    const readme = files.get("README.md") ?? "";
    expect(readme).toContain(`as of ${AFTER_ALL}`);
    expect(readme).toContain(
      "Also excluded: archived runs, superseded analyses, and the rows that belong to them.",
    );
    for (const dataset of EXPORT_DATASET_NAMES) {
      expect(readme).toContain(`| ${dataset}.${format} | ${manifest.rowCounts[dataset]} | `);
    }
    // The README of a CSV bundle lists only columns whose texts can exceed a spreadsheet cell.
    expect(readme.includes("\n- runs.csv: `rawMarkdown`, ")).toBe(format === "csv");
    expect(readme).not.toContain("`title`");
    const listed = await (await app.request("/api/v1/export/datasets")).json();
    const { datasets } = (listed as { data: { datasets: { name: string; jsonSchema: object }[] } }).data;
    expect(JSON.parse(files.get("schema.json") ?? "")).toEqual(
      Object.fromEntries(datasets.map(({ name, jsonSchema }) => [name, jsonSchema])),
    );
  }
});

test("a bundle has the same bytes regardless of the service's time zone", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const hashes = new Set<string>();
  const zone = process.env["TZ"];
  for (const timeZone of ["UTC", "Asia/Tokyo", "America/St_Johns"]) {
    process.env["TZ"] = timeZone;
    const response = await exportDataset(app, made, "bundle", `?as_of=${AFTER_ALL}`);
    hashes.add(
      createHash("sha256")
        .update(Buffer.from(await response.arrayBuffer()))
        .digest("hex"),
    );
  }
  process.env["TZ"] = zone ?? "UTC";
  expect(hashes.size).toBe(1);
});

test("the bundle of an empty project has empty datasets and a file name that escapes the project's name", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const project = await app.make.project({
    orgId: person.org.id,
    ownerId: person.user.id,
    name: "空 / ../=x",
  });
  const response = await exportDataset(app, { person, project }, "bundle");
  expect(response.headers.get("content-disposition")).toMatch(
    /^attachment; filename="x-bundle-[\dTZ-]+\.zip"; filename\*=UTF-8''%E7%A9%BA%20-%20..-%3Dx-bundle-/,
  );
  const files = await unzip(await response.arrayBuffer());
  expect(files.size).toBe(11);
  expect(files.get("issues.ndjson")).toBe("");
});

test("a project's name is escaped as Markdown in the README of its bundle", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const name = "# <b>x</b>\n\n[click](https://example.com) | `rm`";
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id, name });
  const response = await exportDataset(app, { person, project }, "bundle");
  const readme = (await unzip(await response.arrayBuffer())).get("README.md") ?? "";
  expect(readme.split("\n")[0]).toBe(
    "# Export of # \\<b\\>x\\</b\\> \\[click\\](https://example.com) \\| \\`rm\\`",
  );
});
