/** Writes the log to stdout without credentials, with one JSON line per event. */
import { writeSync } from "node:fs";
import pino from "pino";
import { escapeLineEnds } from "../json_lines.ts";

export type Log = pino.Logger;

/** The destination of log lines. Tests collect the lines. */
export interface LogDestination {
  write(line: string): void;
}

/** Fields that always contain a secret, at the top level of a line and one level below. */
const SECRET_FIELDS = new Set([
  "authorization",
  "cookie",
  "password",
  "key",
  "token",
  "sessionToken",
  "secret",
]);
const REDACTED = "[redacted]";

/**
 * Patterns of the service's keys and tokens, and of passwords in URLs. They are replaced anywhere in a line, including
 * messages and stacks.
 */
const SECRETS: readonly [RegExp, string][] = [
  [/\b(ul[rs]_)[\w-]{8,}/g, "$1[redacted]"],
  [/\b(bearer\s+)[\w.~+/-]{8,}=*/gi, "$1[redacted]"],
  // The scheme is not part of the pattern, because it would have to be searched for at every word of a line.
  [/(:\/\/[^\s:@/"]*:)[^\s@/"]+@/g, "$1[redacted]@"],
];

/** Removes credentials from a text. Also used for final messages on stderr, which are not log lines. */
export function redactSecrets(text: string): string {
  return SECRETS.reduce((line, [pattern, replacement]) => line.replace(pattern, replacement), text);
}

type Fields = Record<string, unknown>;

/**
 * Returns the fields without secrets. Copies the fields only if there are secrets. pino's own redaction would take 10 of the
 * 15 microseconds of a line.
 */
function redactFields(fields: Fields, levels = 2): Fields {
  let redacted: Fields | null = null;
  for (const [name, value] of Object.entries(fields)) {
    const visible = SECRET_FIELDS.has(name) ? REDACTED : redactNested(value, levels - 1);
    if (visible === value) continue;
    redacted ??= { ...fields };
    redacted[name] = visible;
  }
  return redacted ?? fields;
}

function redactNested(value: unknown, levels: number): unknown {
  const isFields = typeof value === "object" && value !== null && !(value instanceof Error);
  return isFields && levels > 0 ? redactFields(value as Fields, levels) : value;
}

/** Serializes an error. Omits PostgreSQL's `detail` and `where`, which contain row values such as email addresses. */
function serializeError(error: Error): object {
  const { detail: _detail, where: _where, ...visible } = pino.stdSerializers.err(error);
  return visible;
}

export interface LogOptions {
  level: string;
  process: string;
  /** The destination of the lines; stdout, line by line, if omitted. */
  destination?: LogDestination;
}

/** The maximum time for which a full pipe blocks the process. After that, lines are dropped until the pipe accepts data again. */
const MAX_WAIT_MS = 1000;
const PAUSE_MS = 10;
const STDOUT = 1;

let droppedLines = 0;

/** Returns the number of lines that this process has been unable to write. */
export function countDroppedLines(): number {
  return droppedLines;
}

/**
 * Opens the stdout of a service. Writes the lines of one event loop turn together, because a system call costs more than a
 * line. Lines are written before the process waits for events, and when it exits.
 *
 * Never throws. If the log's disk is full or the reader is gone, lines are dropped and counted. `onRecovered` is called with
 * the number of dropped lines when lines can be written again.
 */
export function openStdout(
  host: Pick<NodeJS.Process, "on">,
  onRecovered: (lines: number) => void = () => {},
): LogDestination {
  let waiting = "";
  let missing = 0;
  let isCutOff = false;
  const flush = (): void => {
    if (waiting === "") return;
    const lines = waiting;
    waiting = "";
    // Ends a partially written line.
    const bytes = Buffer.from(isCutOff ? `\n${lines}` : lines);
    const written = writeUntilFull(bytes, missing > 0 ? 0 : MAX_WAIT_MS);
    if (written > 0) isCutOff = bytes[written - 1] !== LINE_FEED;
    const dropped = bytes.subarray(written).filter((byte) => byte === LINE_FEED).length;
    droppedLines += dropped;
    missing += dropped;
    if (dropped > 0 || missing === 0) return;
    const before = missing;
    missing = 0;
    onRecovered(before);
  };
  host.on("exit", flush);
  return {
    write(line) {
      if (waiting === "") setImmediate(flush);
      waiting += line;
    },
  };
}

const LINE_FEED = 10;

/** Writes as many bytes as stdout accepts, and returns their number. */
function writeUntilFull(bytes: Uint8Array, maxWaitMs: number): number {
  const deadline = performance.now() + maxWaitMs;
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(STDOUT, bytes, written);
    } catch (error) {
      const isFullPipe = error instanceof Error && "code" in error && error.code === "EAGAIN";
      if (!isFullPipe || performance.now() >= deadline) return written;
      Bun.sleepSync(PAUSE_MS);
    }
  }
  return written;
}

export function createLog(options: LogOptions): Log {
  const destination = options.destination ?? pino.destination({ fd: 1, sync: true });
  return pino(
    {
      level: options.level,
      base: { process: options.process, pid: process.pid },
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redactFields(fields),
        bindings: (fields) => redactFields(fields),
      },
      serializers: { err: serializeError },
    },
    { write: (line: string) => void destination.write(escapeLineEnds(redactSecrets(line))) },
  );
}
