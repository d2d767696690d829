/** Log files of the child processes: appended, rotated at a start, and watched for warnings. */
import { closeSync, mkdirSync, openSync, readFileSync, readSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** A file past this size becomes `<name>.1` at the next start. */
const MAX_SIZE_BYTES = 16 * 1024 * 1024;
const POLL_MS = 250;
const CHUNK_BYTES = 64 * 1024;

export interface LogFile extends Disposable {
  path: string;
  /** For a child to write to. */
  fd: number;
  /** Where this run's lines begin. */
  startBytes: number;
  /** The last lines of this run. */
  lastLines(count: number): string[];
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Opens a log file for appending, and creates its folder. */
export function openLogFile(path: string): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  if (sizeOf(path) > MAX_SIZE_BYTES) renameSync(path, `${path}.1`);
  const startBytes = sizeOf(path);
  // Log lines name callers, so only the owner can read them.
  const fd = openSync(path, "a", 0o600);
  return {
    path,
    fd,
    startBytes,
    lastLines(count) {
      const text = readFileSync(path).subarray(startBytes).toString("utf8");
      return text.trimEnd().split("\n").slice(-count);
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

/** Calls `onLine` for every complete line after `startBytes`, until disposed. */
export function watchLog(
  { path, startBytes }: Pick<LogFile, "path" | "startBytes">,
  onLine: (line: string) => void,
): Disposable {
  const fd = openSync(path, "r");
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const decoder = new TextDecoder();
  let position = startBytes;
  let rest = "";
  const read = () => {
    for (;;) {
      const count = readSync(fd, chunk, 0, chunk.length, position);
      if (count === 0) return;
      position += count;
      const lines = (rest + decoder.decode(chunk.subarray(0, count), { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    }
  };
  const timer = setInterval(read, POLL_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      read();
      closeSync(fd);
    },
  };
}
