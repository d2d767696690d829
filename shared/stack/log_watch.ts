/** Follows a child's log file and picks out what a person at the terminal should see: warnings and errors. */
import { closeSync, openSync, readSync } from "node:fs";

const POLL_MS = 250;
const CHUNK_BYTES = 64 * 1024;
/** pino's numbers. */
const WARN = 40;

/** What a log line has, as far as it matters here. */
interface LogLine {
  level?: unknown;
  msg?: unknown;
  requestId?: unknown;
}

const LEVEL_NUMBERS: Readonly<Record<string, number>> = { warn: 40, error: 50, fatal: 60 };

/** A short line for people out of a warning or worse; `null` for everything else. */
export function toNotice(name: string, line: string): string | null {
  // Nearly all lines are of level info: not worth parsing.
  if (!/"level":("(warn|error|fatal)"|[4-6]0)/.test(line)) return null;
  try {
    // Our own log; a line that is no JSON comes from elsewhere and stays in the file.
    const { level, msg, requestId } = JSON.parse(line) as LogLine;
    const number = typeof level === "number" ? level : (LEVEL_NUMBERS[String(level)] ?? 0);
    if (number < WARN) return null;
    const request = requestId ? ` (request ${requestId})` : "";
    return `${name}: ${number >= 50 ? "error" : "warning"}: ${msg}${request}`;
  } catch {
    return null;
  }
}

/** Calls `onLine` for every complete line written after `fromBytes`, until disposed. */
export function watchLog(path: string, fromBytes: number, onLine: (line: string) => void): Disposable {
  const fd = openSync(path, "r");
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const decoder = new TextDecoder();
  let position = fromBytes;
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
