import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openZipFile } from "../../../../api/admin/import/zip_file.ts";
import { writeZip } from "../../../helpers/exports/bundle_file.ts";

async function openFolder() {
  const path = await mkdtemp(join(tmpdir(), "zip-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** Reads a whole entry as text. */
async function readEntry(path: string, name: string): Promise<string> {
  const entry = (await openZipFile(path)).get(name);
  if (!entry) throw new Error(`Cannot read "${name}": there is no such entry`);
  return Buffer.concat(await Array.fromAsync(entry.read())).toString();
}

test("openZipFile() lists the files and reads them in any order", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "a.zip");
  await writeZip(path, { "a/one.txt": "1".repeat(300_000), "two.txt": "" });
  expect([...(await openZipFile(path)).values()].map(({ name, bytes }) => [name, bytes])).toEqual([
    ["a/one.txt", 300_000],
    ["two.txt", 0],
  ]);
  expect(await readEntry(path, "two.txt")).toBe("");
  expect(await readEntry(path, "a/one.txt")).toBe("1".repeat(300_000));
});

test("openZipFile() rejects damaged content", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "a.zip");
  await writeZip(path, { "one.txt": Array.from({ length: 5000 }, (_, n) => `line ${n * 7919}`).join("\n") });
  const bytes = await Bun.file(path).bytes();
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
  await Bun.write(path, bytes);
  await expect(readEntry(path, "one.txt")).rejects.toThrow(/^entry "one.txt"/);
});

test("openZipFile() refuses to unpack a ZIP bomb", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "a.zip");
  await writeZip(path, { "bomb.ndjson": new Uint8Array(80 * 1024 * 1024) });
  await expect(readEntry(path, "bomb.ndjson")).rejects.toThrow("compressed more than 200 to 1");
});

test("openZipFile() lets a reader stop early", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "a.zip");
  await writeZip(path, { "one.txt": crypto.getRandomValues(new Uint8Array(60_000)).toString().repeat(20) });
  const entry = (await openZipFile(path)).get("one.txt");
  for await (const chunk of entry?.read() ?? []) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  expect((await readEntry(path, "one.txt")).length).toBe(entry?.bytes ?? -1);
});
