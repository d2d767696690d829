/** An archive to import: its entries and the projects in its manifest. */
import { AdminError } from "../command/command.ts";
import { type ImportProject, planImport } from "./import_manifest.ts";
import { openZipFile, type ZipFileEntry, ZipFileError } from "./zip_file.ts";

/** Size limit of a manifest. The manifest of 10,000 projects has a sixth of this size. */
const MAX_MANIFEST_BYTES = 128 * 1024 * 1024;

export interface Archive {
  entries: ReadonlyMap<string, ZipFileEntry>;
  projects: readonly ImportProject[];
}

/** Opens the archive and reads its manifest, but no rows. Throws AdminError if the archive is invalid. */
export async function openArchive(path: string): Promise<Archive> {
  const fail = (reason: string): never => {
    throw new AdminError(`Cannot import "${path}": ${reason}`);
  };
  try {
    const entries = await openZipFile(path);
    const manifest = entries.get("manifest.json");
    if (!manifest) return fail("it has no manifest.json at the top level");
    if (manifest.bytes > MAX_MANIFEST_BYTES) return fail("manifest.json is too large");
    const plan = planImport(await readText(manifest), new Set(entries.keys()));
    return plan.ok ? { entries, projects: plan.projects } : fail(plan.reason);
  } catch (error) {
    if (error instanceof ZipFileError) return fail(error.message);
    throw error;
  }
}

/** Reads a small entry into memory. */
export async function readText(entry: ZipFileEntry): Promise<string> {
  return Buffer.concat(await Array.fromAsync(entry.read())).toString("utf8");
}
