/** Whether other programs can read our ZIP files. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import { streamZip, type ZipEntry } from "../../../../shared/exports/zip_stream.ts";

const MODIFIED_AT = "2026-11-20T10:00:00.000Z";

test("Python and unzip read entries of every size, and the ZIP's bytes do not depend on chunk sizes", async () => {
  const sizes = [0, 1, 60_000, 128 * 1024, 128 * 1024 + 1, 1_000_000];
  const contents = sizes.map((size) =>
    Buffer.from(Bun.hash(String(size)).toString(36).repeat(size)).subarray(0, size),
  );
  /** Yields the contents in chunks of `chunkBytes`. */
  async function* entries(chunkBytes: number): AsyncGenerator<ZipEntry, void, void> {
    for (const [index, content] of contents.entries()) {
      async function* chunks() {
        for (let at = 0; at < content.length; at += chunkBytes) yield content.subarray(at, at + chunkBytes);
      }
      yield { name: `${index}.ndjson`, content: chunks() };
    }
  }
  const zipped = async (chunkBytes: number) =>
    Buffer.concat(await Array.fromAsync(streamZip(entries(chunkBytes), { modifiedAt: MODIFIED_AT })));
  const zip = await zipped(50_000);
  expect(Buffer.compare(await zipped(7000), zip)).toBe(0);
  const directory = await mkdtemp(join(tmpdir(), "ulr-zip-"));
  try {
    const path = join(directory, "all.zip");
    await Bun.write(path, zip);
    expect(await $`unzip -tq ${path}`.text()).toContain("No errors");
    await $`python3 -c "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])" ${path} ${directory}`;
    for (const [index, content] of contents.entries()) {
      const read = Buffer.from(await Bun.file(join(directory, `${index}.ndjson`)).arrayBuffer());
      expect(Buffer.compare(read, content)).toBe(0);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
