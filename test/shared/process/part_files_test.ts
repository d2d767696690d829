import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPartDirectory, keepPart, partPathOf } from "../../../shared/process/part_files.ts";

const DAY_MS = 24 * 3_600_000;

test("only parts of dead processes, older than a day, are deleted", async () => {
  const base = await mkdtemp(join(tmpdir(), "ulr-parts-"));
  const directory = join(base, "mail");
  await createPartDirectory(directory)();
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  for (const [name, ageMs] of [
    ["old.eml", 2 * DAY_MS],
    ["dead.eml.1.part", DAY_MS + 60_000],
    ["living.eml.2.part", DAY_MS - 60_000],
  ] as const) {
    await Bun.write(join(directory, name), "content");
    const at = new Date(Date.now() - ageMs);
    await utimes(join(directory, name), at, at);
  }
  const prepare = createPartDirectory(directory);
  await prepare();
  expect((await readdir(directory)).sort()).toEqual(["living.eml.2.part", "old.eml"]);
  await rm(base, { recursive: true });
});

test("a part replaces the file with its final name", async () => {
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
