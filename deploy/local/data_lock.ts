/** Keeps a data directory to one `bun run start` at a time. */
import { Database } from "bun:sqlite";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readText } from "./machine.ts";
import { StartError } from "./terminal.ts";

export interface DataLock extends Disposable {
  /** True if the last start here was killed: its processes may still be exiting. */
  wasAbandoned: boolean;
}

/** Creates and locks `dataDirectory` until disposed. Throws StartError if another start holds the lock. */
export function lockDataDirectory(dataDirectory: string): DataLock {
  const pidPath = join(dataDirectory, "start.pid");
  try {
    mkdirSync(dataDirectory, { recursive: true });
    // Until this process ends, even by a crash: the kernel releases SQLite's locks.
    const lock = new Database(join(dataDirectory, "start.lock"));
    lock.run("begin exclusive");
    const wasAbandoned = readText(pidPath) !== null;
    writeFileSync(pidPath, `${process.pid}\n`);
    return {
      wasAbandoned,
      [Symbol.dispose]() {
        rmSync(pidPath, { force: true });
        lock.close();
      },
    };
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    const pid = readText(pidPath)?.trim();
    const reason =
      code === "SQLITE_BUSY"
        ? `another \`bun run start\` (process ${pid}) is running there. Stop it with Ctrl-C in its terminal or with \`kill ${pid}\`.`
        : message;
    throw new StartError(`Cannot use ${dataDirectory}: ${reason}`, { cause });
  }
}
