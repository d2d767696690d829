/** Bundles, opened by common archive programs. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXPORT_DATASET_NAMES } from "../../../../shared/exports/datasets.ts";
import { exportDataset, makeExportProject } from "../../../helpers/exports/export_project.ts";
import { readParquet } from "../../../helpers/exports/parquet_file.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { runCommand } from "../../../helpers/process/command.ts";

const HOUR_MS = 3_600_000;

test("unzip, 7z and Python open a bundle but refuse a truncated bundle, and entries have UTC times and mode 644", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const directory = await mkdtemp(join(tmpdir(), "ulr-bundle-"));
  const response = await exportDataset(app, made, "bundle", "?as_of=2026-02-01T12:34:56.789Z");
  const bytes = new Uint8Array(await response.arrayBuffer());
  const whole = join(directory, "whole.zip");
  const readers = (path: string) => [
    ["unzip", "-t", path],
    ["7z", "t", path],
    ["python3", "-c", "import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None", path],
  ];
  await Bun.write(whole, bytes);
  for (const command of readers(whole)) {
    expect([command[0], (await runCommand(command)).exitCode]).toEqual([command[0], 0]);
  }
  const program = `
import json, sys, zipfile
print(json.dumps([[i.date_time, oct(i.external_attr >> 16), i.create_system] for i in zipfile.ZipFile(sys.argv[1]).infolist()]))`;
  const { stdout } = await runCommand(["python3", "-c", program, whole]);
  expect(JSON.parse(stdout)).toEqual(Array(11).fill([[2026, 2, 1, 12, 34, 56], "0o100644", 3]));
  for (const missing of [1, 100, Math.floor(bytes.length / 2), bytes.length - 10]) {
    const path = join(directory, `without-${missing}.zip`);
    await Bun.write(path, bytes.subarray(0, bytes.length - missing));
    for (const command of readers(path)) {
      expect([command[0], missing, (await runCommand(command)).exitCode === 0]).toEqual([
        command[0],
        missing,
        false,
      ]);
    }
  }
  await rm(directory, { recursive: true });
});

test("unzip, 7z, Python and DuckDB read a Parquet bundle, and all entries are compressed", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const directory = await mkdtemp(join(tmpdir(), "ulr-bundle-"));
  const path = join(directory, "bundle.zip");
  const response = await exportDataset(
    app,
    made,
    "bundle",
    `?since=${new Date(Date.now() - HOUR_MS).toISOString()}&format=parquet`,
  );
  expect(response.status).toBe(200);
  await Bun.write(path, await response.arrayBuffer());
  const program = `
import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps([[i.filename, i.compress_type == zipfile.ZIP_STORED] for i in archive.infolist()]))
assert archive.testzip() is None`;
  const { stdout, exitCode } = await runCommand(["python3", "-c", program, path]);
  expect(exitCode).toBe(0);
  const entries = JSON.parse(stdout) as [name: string, isStored: boolean][];
  // Every entry has a data descriptor, and Java's ZipInputStream refuses data descriptors of uncompressed entries.
  expect(entries.filter(([, isStored]) => isStored)).toEqual([]);
  expect(entries.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      "deleted.ndjson",
      ...EXPORT_DATASET_NAMES.map((dataset) => `${dataset}.parquet`),
    ]),
  );
  for (const [reader, ...command] of [
    ["unzip", "-q", path, "-d", join(directory, "unzip")],
    ["7z", "x", path, `-o${join(directory, "7z")}`],
  ]) {
    expect([reader, (await runCommand([reader ?? "", ...command])).exitCode]).toEqual([reader, 0]);
    const manifest = await Bun.file(join(directory, reader ?? "", "manifest.json")).json();
    expect(manifest.rowCounts.issues).toBeGreaterThan(0);
    for (const dataset of EXPORT_DATASET_NAMES) {
      const bytes = await Bun.file(join(directory, reader ?? "", `${dataset}.parquet`)).bytes();
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(manifest.files[dataset].sha256);
      expect((await readParquet(bytes, dataset)).rows).toHaveLength(manifest.rowCounts[dataset]);
    }
  }
  await rm(directory, { recursive: true });
});
