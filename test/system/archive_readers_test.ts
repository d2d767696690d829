/** Programs that read a ZIP as a stream can read every bundle and organization export. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32 } from "node:zlib";
import { BlobReader, Uint8ArrayWriter, ZipReader } from "@zip.js/zip.js";
import { streamZip, textEntry, type ZipEntry } from "../../shared/exports/zip_stream.ts";
import { EXPORT_FORMATS } from "../../shared/vocabulary.ts";
import { downloadJob, jobOf, postJob } from "../helpers/exports/export_job.ts";
import { exportDataset, makeExportProject } from "../helpers/exports/export_project.ts";
import { addNoise } from "../helpers/exports/heavy_org.ts";
import { type ReadEntry, readWithJava, readWithUnzipper } from "../helpers/exports/zip_readers.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { runCommand } from "../helpers/process/command.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";

/** Entries larger than this are compressed while they arrive. */
const SMALL_BYTES = 128 * 1024;
const GIB = 2 ** 30;

let directory: string;
const archives = new Map<string, ReadEntry[]>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ulr-archives-"));
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const { person } = made;
  await addNoise(app.db, made.project, 1);
  await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  await using runner = await openTestRunner(app);
  for (const format of EXPORT_FORMATS) {
    await save(`bundle.${format}.zip`, await exportDataset(app, made, "bundle", `?format=${format}`));
    const { id } = await jobOf(await postJob(app, person, { format }));
    await runner.build(id);
    await save(`organization.${format}.zip`, await downloadJob(app, person.key, id));
  }
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

/** Saves an archive, and records the entries in its directory. */
async function save(name: string, response: Response): Promise<void> {
  expect(response.status).toBe(200);
  const bytes = await response.arrayBuffer();
  const path = join(directory, name);
  await Bun.write(path, bytes);
  const entries: ReadEntry[] = [];
  for (const entry of await new ZipReader(new BlobReader(new Blob([bytes]))).getEntries()) {
    if (entry.directory) continue;
    const content = await entry.getData(new Uint8ArrayWriter());
    entries.push({ name: entry.filename, bytes: content.length, crc32: crc32(content) });
  }
  // Every archive has small and large entries.
  expect(entries.some((entry) => entry.bytes > SMALL_BYTES)).toBe(true);
  expect(entries.some((entry) => entry.bytes > 0 && entry.bytes <= SMALL_BYTES)).toBe(true);
  archives.set(path, entries);
}

test("Java's ZipInputStream reads every entry of the exported ZIP files", async () => {
  expect(archives.size).toBe(2 * EXPORT_FORMATS.length);
  expect(await readWithJava([...archives.keys()])).toEqual(archives);
});

test("npm's unzipper package reads every entry of the exported ZIP files", async () => {
  for (const [path, entries] of archives) expect(await readWithUnzipper(path)).toEqual(entries);
});

test("Java reads an entry larger than 4 GiB and the entry after it, and Python lists both entries", async () => {
  const zeros = Buffer.alloc(GIB / 64);
  async function* content() {
    for (let n = 0; n < 4 * 64; n += 1) yield zeros;
    yield Buffer.from("end");
  }
  async function* entries(): AsyncGenerator<ZipEntry, void, void> {
    yield { name: "large", content: content() };
    yield textEntry("small", "after");
  }
  const path = join(directory, "large.zip");
  const zip = streamZip(entries(), { modifiedAt: "2026-11-20T10:00:00.000Z" });
  await pipeline(Readable.from(zip), createWriteStream(path));
  const read = (await readWithJava([path])).get(path) ?? [];
  expect(read.map(({ name, bytes }) => [name, bytes])).toEqual([
    ["large", 4 * GIB + 3],
    ["small", 5],
  ]);
  const program = `
import json, sys, zipfile
print(json.dumps([{"name": e.filename, "bytes": e.file_size, "crc32": e.CRC} for e in zipfile.ZipFile(sys.argv[1]).infolist()]))`;
  const { stdout, stderr } = await runCommand(["python3", "-c", program, path]);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual(read);
});
