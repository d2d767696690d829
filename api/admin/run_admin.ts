/** Runs one admin command: parses the command line, connects to the database, and prints the result. */
import { ApiError } from "../../shared/errors.ts";
import { toJsonLine } from "../../shared/json_lines.ts";
import { readConfig } from "../../shared/process/config.ts";
import { describeUnknownVariables } from "../../shared/process/unknown_variables.ts";
import { ADMIN_APPLICATION } from "../../sql/connection/application_names.ts";
import { describeConnectionFailure } from "../../sql/connection/database_fault.ts";
import {
  requireDirectConnection,
  requireSameBehindPooler,
  warnIfClearText,
} from "../../sql/connection/direct_connection.ts";
import { openPool, type Pool } from "../../sql/connection/pool.ts";
import { requireCompatibleSchema, SchemaError } from "../../sql/schema_state.ts";
import type { Problem } from "../http/validation_problems.ts";
import {
  AdminError,
  type AdminErrorCode,
  type Command,
  type CommandContext,
  UsageError,
} from "./command/command.ts";
import { type CommandLine, parseCommandLine } from "./command/command_line.ts";
import { helpText } from "./command/help.ts";
import { COMMANDS } from "./commands.ts";

/** Maximum number of connections. `demo seed` needs the most: two for concurrent projects and one for other work. */
const CONNECTIONS = 3;

interface Terminal extends Pick<CommandContext, "readPassword"> {
  out: (text: string) => void;
  err: (text: string) => void;
  isTerminal: boolean;
}

/** Runs one command and returns the exit code: 0 done, 1 failed, 2 wrong usage. Never throws. */
export async function runAdmin(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<number> {
  try {
    const line = parseCommandLine(COMMANDS, words);
    if (line.type === "help") terminal.out(helpText(COMMANDS, line.topic));
    else await runCommand(line, env, terminal);
    return 0;
  } catch (error) {
    const { code, message } = explain(error);
    terminal.err(`${message}\n`);
    if (words.includes("--json")) terminal.out(`${toJsonLine({ error: { code, message } })}\n`);
    return code === "USAGE" ? 2 : 1;
  }
}

async function runCommand(
  line: CommandLine & { type: "command" },
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<void> {
  for (const text of describeUnknownVariables(env)) terminal.err(`${text}\n`);
  const result = readConfig(env);
  if (!result.ok) throw new AdminError(result.problems.join("\n"));
  const { config } = result;
  const sql = openPool(config.databaseDirectUrl, { applicationName: ADMIN_APPLICATION, max: CONNECTIONS });
  const { clear, ...notices } = openNotices(terminal, { isQuiet: line.json && !terminal.isTerminal });
  const { warn } = notices;
  try {
    await requireDirectConnection(sql);
    if (config.databaseUrl !== config.databaseDirectUrl) await requireNamedDatabase(config.databaseUrl, sql);
    await warnIfClearText(sql, warn);
    if (!line.command.allowsPendingMigrations) await requireSchema(sql, line.command, warn);
    const context = { sql, config, readPassword: terminal.readPassword, ...notices };
    const { json, text } = await line.command.run(context, line.values);
    clear();
    if (line.json) terminal.out(`${toJsonLine(json)}\n`);
    else if (text) terminal.out(`${text}\n`);
  } finally {
    clear();
    await sql.end({ timeout: 2 });
  }
}

/**
 * Throws if DATABASE_URL does not lead to the same database as DATABASE_DIRECT_URL. Commands use only DATABASE_DIRECT_URL, but the
 * operator selects a database with DATABASE_URL. If DATABASE_URL is unreachable, the operator may mean another database.
 */
async function requireNamedDatabase(url: string, direct: Pool): Promise<void> {
  try {
    await requireSameBehindPooler(url, direct);
  } catch (error) {
    const unavailable = describeConnectionFailure(error);
    if (unavailable === null) throw error;
    throw new AdminError(
      `Cannot check that DATABASE_URL and DATABASE_DIRECT_URL lead to the same database. DATABASE_URL: ${unavailable}. Correct it, or set both to the same URL`,
      "DATABASE_UNAVAILABLE",
    );
  }
}

async function requireSchema(sql: Pool, { name }: Command, warn: (text: string) => void): Promise<void> {
  try {
    await requireCompatibleSchema(sql, warn);
  } catch (error) {
    // `explain` handles errors of PostgreSQL for all commands.
    if (!(error instanceof SchemaError)) throw error;
    throw new AdminError(`Cannot run "${name}": ${error.message}`);
  }
}

interface Failure {
  code: AdminErrorCode;
  /** Message for the operator, without a stack trace: one line, or one line per configuration variable. */
  message: string;
}

function explain(error: unknown): Failure {
  if (error instanceof UsageError) return { code: "USAGE", message: error.message };
  if (error instanceof AdminError) return { code: error.code, message: error.message };
  if (error instanceof ApiError) return explainApiError(error);
  const unavailable = describeConnectionFailure(error);
  if (unavailable) return { code: "DATABASE_UNAVAILABLE", message: unavailable };
  const text = (error instanceof Error && error.message ? error.message : String(error)).split("\n")[0];
  const message = text?.startsWith("Cannot ") ? text : `Cannot complete the command: ${text}`;
  return { code: "FAILED", message };
}

/** Flag names by API field, for fields whose flags have other names. */
const FLAGS: Readonly<Record<string, string>> = { organization: "org", websiteUrl: "website" };

/** Converts an ApiError of a rule shared with the API. Replaces the field's name with the flag's name. */
function explainApiError({ code, status, message, details = {} }: ApiError): Failure {
  const [problem] = (details["errors"] ?? []) as readonly Problem[];
  if (code === "VALIDATION_ERROR" && problem) {
    return { code: "USAGE", message: `--${FLAGS[problem.path] ?? problem.path} ${problem.message}` };
  }
  return { code: status === 404 ? "NOT_FOUND" : "FAILED", message };
}

/** Terminal control sequence that erases the current line. */
const ERASE = "\r\u001b[2K";
const TICK_MS = 200;

/** Returns functions that print a command's progress and warnings. If quiet, prints no progress. `clear` erases the progress. */
function openNotices(
  { err, isTerminal }: Terminal,
  options: { isQuiet: boolean },
): Pick<CommandContext, "progress" | "tick" | "warn"> & { clear: () => void } {
  let shown = false;
  let lastTick = 0;
  const progress = (text: string): void => {
    if (options.isQuiet) return;
    err(isTerminal ? ERASE + text : `${text}\n`);
    shown = true;
  };
  const clear = (): void => {
    if (shown && isTerminal) err(ERASE);
    shown = false;
  };
  return {
    progress,
    tick(text) {
      if (!isTerminal || Date.now() - lastTick < TICK_MS) return;
      lastTick = Date.now();
      progress(text());
    },
    warn(text) {
      clear();
      err(`${text}\n`);
    },
    clear,
  };
}
