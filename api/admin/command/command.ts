/** Defines a command of the admin command line: its name, flags and result. */
import { isLongerThan } from "../../../shared/characters.ts";
import { parseInstant } from "../../../shared/instant.ts";
import type { Config } from "../../../shared/process/config.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { OWN_TRACKER_SCHEMA } from "../../../sql/tracker/tracker_tables.ts";

export interface Flag {
  /** Placeholder of the value in the help, such as `EMAIL`. A flag with neither this nor `words` is a switch. */
  placeholder?: string;
  /** The allowed values. */
  words?: readonly string[];
  required?: boolean;
  /** Given by position instead of by name. */
  positional?: boolean;
  about: string;
}

type TextOf<F extends Flag> = F extends { words: readonly (infer Word)[] } ? Word : string;
type ValueOf<F extends Flag> = F extends { placeholder: string } | { words: readonly string[] }
  ? F extends { required: true }
    ? TextOf<F>
    : TextOf<F> | undefined
  : boolean;

/** Values of flags by name, as the command line has them: text, or whether a switch is set. */
export type GivenFlags = Record<string, string | boolean | undefined>;

/** The same for declared flags, checked. */
export type FlagValues<F extends Readonly<Record<string, Flag>>> = { [K in keyof F]: ValueOf<F[K]> };

export interface CommandContext {
  sql: Pool;
  config: Config;
  /** Shows the progress of a long command; on a terminal, each line replaces the previous one. */
  progress: (text: string) => void;
  /** Shows frequent progress: on a terminal only, a few times per second. */
  tick: (text: () => string) => void;
  /** Reads a password that the operator types or pipes in. */
  readPassword: () => Promise<string>;
  /** Prints a note although the command succeeds. */
  warn: (text: string) => void;
}

/** Output of a command: `json` with `--json`, else `text`. An empty text prints nothing. */
export interface CommandResult {
  json: Readonly<Record<string, unknown>>;
  text: string;
}

export interface Command {
  /** `user create`, or one word. */
  name: string;
  about: string;
  flags: Readonly<Record<string, Flag>>;
  /** Whether it runs on a database with pending migrations. */
  allowsPendingMigrations?: true;
  run: (context: CommandContext, values: GivenFlags) => Promise<CommandResult>;
}

/** Declares a command. The types of the values that `run` gets follow from the flags. */
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

/** Codes of failures, for scripts. */
export type AdminErrorCode =
  | "USAGE"
  | "NOT_FOUND"
  | "DATABASE_UNAVAILABLE"
  | "AUDIT_BROKEN"
  | "TRACKER_DIFFERS"
  | "FAILED";

/** A mistake in the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A failure that the operator can act on: exit code 1. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly code: AdminErrorCode;

  constructor(message: string, code: AdminErrorCode = "FAILED") {
    super(message);
    this.code = code;
  }
}

/** The audit log's actor for commands. */
export const OPERATOR = { actorType: "operator" } as const;

/** Throws UsageError for the first flag with a problem. A problem is a phrase that follows the flag's name. */
export function checkFlags(problems: Readonly<Record<string, string | null | undefined>>): void {
  for (const [flag, problem] of Object.entries(problems)) {
    if (problem) throw new UsageError(`--${flag} ${problem}`);
  }
}

const MAX_REASON_LENGTH = 2000;

/** Returns what is wrong with the reason of a command; null if nothing is. */
export function reasonProblem(reason: string): string | null {
  if (reason.trim() !== "" && !isLongerThan(reason, MAX_REASON_LENGTH)) return null;
  return `must have 1 to ${MAX_REASON_LENGTH} characters`;
}

/** Returns the instant that a flag means: a time with an offset, or a day's beginning in UTC. Throws UsageError. */
export function parseInstantFlag(flag: string, text: string): string {
  const instant = parseInstant(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (instant) return instant;
  throw new UsageError(`--${flag} must be ISO 8601, such as 2027-01-31 or 2027-01-31T12:00:00Z`);
}

/** Throws before a command writes tracker rows that exports would not show: TRACKER_SCHEMA names other tables. */
export function requireOwnTracker({ trackerSchema }: Pick<Config, "trackerSchema">, command: string): void {
  if (trackerSchema === OWN_TRACKER_SCHEMA) return;
  throw new AdminError(
    `Cannot run "${command}": it writes the tables in schema "${OWN_TRACKER_SCHEMA}", but TRACKER_SCHEMA is "${trackerSchema}", so ` +
      `exports would not have the rows. Unset TRACKER_SCHEMA, or let the tracker write them.`,
  );
}
