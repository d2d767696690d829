/** The log: one JSON line per event on stdout, without credentials. */
import pino from "pino";
import { escapeLineEnds } from "../json_lines.ts";

export type Log = pino.Logger;

/** The destination of lines; tests collect them. */
export interface LogDestination {
  write(line: string): void;
}

/** Fields that always hold a secret, at the top level of a line and one below. */
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

/** Patterns of our keys and tokens, and of passwords in URLs, anywhere in a line, also in messages and stacks. */
const SECRETS: readonly [RegExp, string][] = [
  [/\b(ul[rs]_)[\w-]{8,}/g, "$1[redacted]"],
  [/\b(bearer\s+)[\w.~+/-]{8,}=*/gi, "$1[redacted]"],
  [/([a-z][a-z0-9+.-]*:\/\/[^\s:@/"]*:)[^\s@/"]+@/gi, "$1[redacted]@"],
];

/** Removes credentials from a text. Exported for final messages on stderr, which are not log lines. */
export function redactSecrets(text: string): string {
  return SECRETS.reduce((line, [pattern, replacement]) => line.replace(pattern, replacement), text);
}

type Fields = Record<string, unknown>;

/**
 * Returns the fields without secrets; copies them only if there are any. pino's own redaction would take 10 of the 15
 * microseconds of a line.
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

/** Serializes an error without PostgreSQL's `detail` and `where`, which contain row values such as email addresses. */
function serializeError(error: Error): object {
  const { detail: _detail, where: _where, ...visible } = pino.stdSerializers.err(error);
  return visible;
}

export interface LogOptions {
  level: string;
  /** The process. */
  process: string;
  /** Stdout, line by line, if omitted. */
  destination?: LogDestination;
}

/**
 * Opens the stdout of a serving process. Writes the lines of one turn of the event loop together, because a system call
 * costs more than a line. They are written before the process waits and when it exits.
 */
export function openStdout(host: Pick<NodeJS.Process, "on">): LogDestination {
  const stdout = pino.destination({ fd: 1, sync: true });
  let waiting = "";
  const flush = (): void => {
    if (waiting === "") return;
    const lines = waiting;
    waiting = "";
    stdout.write(lines);
  };
  host.on("exit", flush);
  return {
    write(line) {
      if (waiting === "") setImmediate(flush);
      waiting += line;
    },
  };
}

/** Creates a log. */
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
