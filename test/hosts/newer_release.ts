/** A newer release: the files of this checkout with one more migration. */
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Installation } from "../helpers/process/service_process.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const FILES = [
  "api",
  "catalog-sync",
  "jobs",
  "shared",
  "sql",
  "package.json",
  "tsconfig.json",
  "SECURITY.md",
];

/** The name of the newer release's additional migration. */
export const LATER = "99990101000000_later";

export interface NewerRelease extends Installation, AsyncDisposable {}

/** Creates the release in a new folder, with `sql` as its migration; `await using` deletes the folder. */
export async function makeNewerRelease(sql: string): Promise<NewerRelease> {
  const root = await mkdtemp(join(tmpdir(), "ulr-newer-"));
  for (const name of FILES) await cp(join(REPOSITORY, name), join(root, name), { recursive: true });
  await symlink(join(REPOSITORY, "node_modules"), join(root, "node_modules"));
  await Bun.write(join(root, `sql/migrations/${LATER}.sql`), sql);
  return {
    bun: process.execPath,
    root,
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
