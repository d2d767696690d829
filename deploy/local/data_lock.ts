/** Keeps a data directory to one `bun run start` at a time. */
import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "./start_error.ts";

export interface DataLock extends Disposable {
  /** True if the last start here was killed: its processes may still be exiting. */
  wasAbandoned: boolean;
}

function readPid(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}

/** Locks the file until this process ends, even by a crash: the kernel releases SQLite's locks. */
function lockFile(path: string): Database {
  const database = new Database(path);
  database.run("begin exclusive");
  return database;
}

/** Creates and locks `dataDirectory` until disposed. Throws StartError if another start holds the lock. */
export function lockDataDirectory(dataDirectory: string): DataLock {
  const pidPath = join(dataDirectory, "start.pid");
  try {
    mkdirSync(dataDirectory, { recursive: true });
    const lock = lockFile(join(dataDirectory, "start.lock"));
    const wasAbandoned = readPid(pidPath) !== null;
    writeFileSync(pidPath, `${process.pid}\n`);
    return {
      wasAbandoned,
      [Symbol.dispose]() {
        rmSync(pidPath, { force: true });
        lock.close();
      },
    };
  } catch (cause) {
    throw new StartError(`Cannot use ${dataDirectory}: ${explain(cause, readPid(pidPath))}`, { cause });
  }
}

function explain(cause: unknown, pid: string | null): string {
  if (!(cause instanceof Error)) return String(cause);
  if (!("code" in cause) || cause.code !== "SQLITE_BUSY") return cause.message;
  return `another \`bun run start\` (process ${pid}) is running there. Stop it with Ctrl-C in its terminal or with \`kill ${pid}\`.`;
}
