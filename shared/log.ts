/** The log: one JSON line per event on stdout, and never a credential in it. */
import pino from "pino";

export type Log = pino.Logger;

/** Where lines go; tests collect them. */
export interface LogDestination {
  write(line: string): void;
}

/** Fields that hold a secret whatever their value, at the top of a line and one level below. */
const SECRET_FIELDS = ["authorization", "cookie", "password", "key", "token", "sessionToken", "secret"];

/** A key or token of ours, and the password of a URL, wherever they stand in a line: messages and stacks too. */
const SECRETS: readonly [RegExp, string][] = [
  [/\b(ul[rs]_)[\w-]{8,}/g, "$1[redacted]"],
  [/\b(bearer\s+)[\w.~+/-]{8,}=*/gi, "$1[redacted]"],
  [/([a-z][a-z0-9+.-]*:\/\/[^\s:@/"]*:)[^\s@/"]+@/gi, "$1[redacted]@"],
];

/** Takes credentials out of a text. Exported for the processes' last words, which are no log lines. */
export function redactSecrets(text: string): string {
  return SECRETS.reduce((line, [pattern, replacement]) => line.replace(pattern, replacement), text);
}

/** An error as a field. What PostgreSQL says in `detail` and `where` are values of rows, an email address for one. */
function serializeError(error: Error): object {
  const { detail: _detail, where: _where, ...told } = pino.stdSerializers.err(error);
  return told;
}

export interface LogOptions {
  level: string;
  /** Which of our processes speaks. */
  process: string;
  /** Stdout when left out. */
  destination?: LogDestination;
}

/** Opens a log. Lines are written at once, so that none is lost when the process ends. */
export function createLog(options: LogOptions): Log {
  const destination = options.destination ?? pino.destination({ fd: 1, sync: true });
  return pino(
    {
      level: options.level,
      base: { process: options.process, pid: process.pid },
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: "[redacted]" },
    },
    { write: (line: string) => void destination.write(redactSecrets(line)) },
  );
}
