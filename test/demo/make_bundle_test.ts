import { expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEMO_FILE } from "../../api/admin/demo/demo_bundle.ts";
import { openZipFile } from "../../api/admin/import/zip_file.ts";
import { SMALL_DEMO_FILE } from "../helpers/demo.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { makeDemoBundle } from "./make_bundle.ts";

/** Returns the SHA-256 of each entry of a ZIP file, by the entry's name. */
async function digestEntries(path: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const [name, entry] of await openZipFile(path)) {
    const hash = new Bun.CryptoHasher("sha256");
    for await (const chunk of entry.read()) hash.update(chunk);
    digests[name] = hash.digest("hex");
  }
  return digests;
}

test.each([
  ["the demo", DEMO_FILE, 1],
  ["the small demo of the tests", SMALL_DEMO_FILE, 0.01],
])("%s matches the output of `bun run demo`", async (_, committed, scale) => {
  await using db = await openTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), "demo-"));
  const path = join(folder, "made.zip");
  await makeDemoBundle(db.sql, { path, scale });
  expect(await digestEntries(path)).toEqual(await digestEntries(committed));
  await rm(folder, { recursive: true });
});

test("the demo file stays below 4 MB, because every clone of the repository contains its whole history", async () => {
  expect((await stat(DEMO_FILE)).size).toBeLessThan(4_000_000);
});
