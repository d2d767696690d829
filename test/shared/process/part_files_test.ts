import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepPart, partPathOf } from "../../../shared/process/part_files.ts";

test("keepPart() renames a part file to its final path, replacing an existing file", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-parts-"));
  const path = join(directory, "a.eml");
  for (const content of ["first", "second"]) {
    const part = partPathOf(path);
    await Bun.write(part, content);
    await keepPart(part, path);
    expect(await Bun.file(path).text()).toBe(content);
  }
  expect(await readdir(directory)).toEqual(["a.eml"]);
  await rm(directory, { recursive: true });
});
