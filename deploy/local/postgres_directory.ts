/** Where the embedded database keeps its files, and the account that owns them: PostgreSQL refuses to run as root. */
import { spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StartError } from "./start_error.ts";
import type { RunAs } from "./supervisor.ts";

/** In order of preference. The first exists if PostgreSQL is installed, the second nearly always. */
const ACCOUNTS = ["postgres", "nobody"] as const;
/** Folders that root can write to and every account can enter, for a DATA_DIR that the account cannot enter. */
const OPEN_FOLDERS = ["/var/lib", "/var/tmp"] as const;
/** Prefix of the folder of an unfinished cluster. */
const PREFIX = "ulr-postgres-";

export interface PostgresDirectory {
  /** With links resolved. */
  path: string;
  /** Undefined for the current account. */
  runAs: RunAs | undefined;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function askId(flag: "-u" | "-g", account: string): number | null {
  const { status, stdout } = spawnSync("id", [flag, account], { encoding: "utf8" });
  // macOS prints the ids of `nobody` as -2.
  return status === 0 && stdout.trim() !== "" ? Number(stdout) >>> 0 : null;
}

function findAccount(): RunAs | undefined {
  if (!isRoot()) return undefined;
  for (const account of ACCOUNTS) {
    const uid = askId("-u", account);
    const gid = askId("-g", account);
    if (uid && gid !== null) return { uid, gid };
  }
  throw new StartError(
    'Cannot start PostgreSQL as root: there is no account "postgres" or "nobody"; set DATABASE_URL or use another user',
  );
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
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Its `initdb` is still writing there; the next start removes it.
    }
  }
}

/** Returns the account to run as if we are root. Changes the owner of files that root has copied here. */
function findOwner(directory: string): RunAs | undefined {
  if (!isRoot()) return undefined;
  const { uid, gid } = statSync(directory);
  if (uid !== 0) return { uid, gid };
  const runAs = findAccount();
  if (runAs) spawnSync("chown", ["-R", `${runAs.uid}:${runAs.gid}`, directory], { stdio: "ignore" });
  return runAs;
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
