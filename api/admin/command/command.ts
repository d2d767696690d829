/** Types and helpers for the commands of the admin command line. */
import { isLongerThan } from "../../../shared/characters.ts";
import { parseInstant } from "../../../shared/instant.ts";
import type { Config } from "../../../shared/process/config.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { OWN_TRACKER_SCHEMA } from "../../../sql/tracker/tracker_tables.ts";

export interface Flag {
  /** Placeholder for the value in the help, such as `EMAIL`. A flag with neither `placeholder` nor `words` is a switch. */
  placeholder?: string;
  /** The allowed values. */
  words?: readonly string[];
  required?: boolean;
  /** Whether the value is passed by position, without the flag's name. */
  positional?: boolean;
  about: string;
}

type TextOf<F extends Flag> = F extends { words: readonly (infer Word)[] } ? Word : string;
type ValueOf<F extends Flag> = F extends { placeholder: string } | { words: readonly string[] }
  ? F extends { required: true }
    ? TextOf<F>
    : TextOf<F> | undefined
  : boolean;

/** Values of flags by name: the text of a value, or whether a switch is set. */
export type GivenFlags = Record<string, string | boolean | undefined>;

/** Checked values of the declared flags `F` by name. */
export type FlagValues<F extends Readonly<Record<string, Flag>>> = { [K in keyof F]: ValueOf<F[K]> };

export interface CommandContext {
  sql: Pool;
  config: Config;
  /** Shows the progress of a long command. On a terminal, each line replaces the previous one. */
  progress: (text: string) => void;
  /** Shows frequent progress on a terminal, a few times per second. Other outputs show none. */
  tick: (text: () => string) => void;
  /** Reads a password that the operator types or pipes in. */
  readPassword: () => Promise<string>;
  /** Prints a warning, which does not make the command fail. */
  warn: (text: string) => void;
}

/** Output of a command: `json` if `--json` is set, otherwise `text`. An empty text is not printed. */
export interface CommandResult {
  json: Readonly<Record<string, unknown>>;
  text: string;
}

export interface Command {
  /** Noun and verb, such as `user create`, or a single word, such as `import`. */
  name: string;
  about: string;
  flags: Readonly<Record<string, Flag>>;
  /** Whether the command runs on a database with pending migrations. */
  allowsPendingMigrations?: true;
  run: (context: CommandContext, values: GivenFlags) => Promise<CommandResult>;
}

/** Declares a command. The flags determine the types of the values passed to `run`. */
export function defineCommand<const F extends Record<string, Flag>>(
  command: Omit<Command, "flags" | "run"> & {
    flags: F;
    run: (context: CommandContext, values: FlagValues<F>) => Promise<CommandResult>;
  },
): Command {
  return {
    ...command,
    // parseCommandLine returns values of the declared types.
    run: (context, values) => command.run(context, values as FlagValues<F>),
  };
}

/** Error codes in the output of `--json`, for scripts. */
export type AdminErrorCode =
  | "USAGE"
  | "NOT_FOUND"
  | "DATABASE_UNAVAILABLE"
  | "AUDIT_BROKEN"
  | "TRACKER_DIFFERS"
  | "FAILED";

/** An error in the command line. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A failure that the operator can act on. The exit code is 1. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly code: AdminErrorCode;

  constructor(message: string, code: AdminErrorCode = "FAILED") {
    super(message);
    this.code = code;
  }
}

/** Actor of all admin commands in the audit log. */
export const OPERATOR = { actorType: "operator" } as const;

/** Throws UsageError for the first flag with a problem. Each problem is phrased to follow the flag's name. */
export function checkFlags(problems: Readonly<Record<string, string | null | undefined>>): void {
  for (const [flag, problem] of Object.entries(problems)) {
    if (problem) throw new UsageError(`--${flag} ${problem}`);
  }
}

const MAX_REASON_LENGTH = 2000;

/** Returns the problem with the value of `--reason`; null if the value is valid. */
export function reasonProblem(reason: string): string | null {
  if (reason.trim() !== "" && !isLongerThan(reason, MAX_REASON_LENGTH)) return null;
  return `must have 1 to ${MAX_REASON_LENGTH} characters`;
}

/** Parses a flag's value: a time with an offset, or a date, which means midnight UTC. Throws UsageError. */
export function parseInstantFlag(flag: string, text: string): string {
  const instant = parseInstant(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (instant) return instant;
  throw new UsageError(`--${flag} must be ISO 8601, such as 2027-01-31 or 2027-01-31T12:00:00Z`);
}

/** Throws AdminError if TRACKER_SCHEMA names another schema, because exports would not include the command's rows. */
export function requireOwnTracker({ trackerSchema }: Pick<Config, "trackerSchema">, command: string): void {
  if (trackerSchema === OWN_TRACKER_SCHEMA) return;
  throw new AdminError(
    `Cannot run "${command}": it writes the tables in schema "${OWN_TRACKER_SCHEMA}", but TRACKER_SCHEMA is "${trackerSchema}", so ` +
      `exports would not have the rows. Unset TRACKER_SCHEMA, or let the tracker write them.`,
  );
}
