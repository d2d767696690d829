/** The command line of `bun run catalog-sync`. */
import { parseArgs } from "node:util";

export const USAGE = `Usage: bun run catalog-sync [--once] [--dry-run] [--force] [--if-empty] [--json]

Syncs the model catalog from CATALOG_SOURCE: once at the start, then on the
schedule of CATALOG_SYNC_CRON. An empty database gets the bundled copy first;
with a source other than models.dev, only if that cannot be read.
DATABASE_URL is required, and a migrated database: bun run migrate.

With one of these flags it syncs once:

  --once      syncs and prints a summary; exits with 1 if the source was not
              read or its document waits
  --dry-run   prints what a sync would change, and changes nothing
  --force     ignores the stored ETag and takes whatever is doubtful
  --if-empty  loads a first catalog into an empty database, and leaves any other
              alone
  --json      prints one JSON object instead, also when the sync fails
  --help      prints this help
`;

export type SyncMode = "schedule" | "once" | "dry-run" | "if-empty";

export type CommandLine =
  | { type: "run"; mode: SyncMode; force: boolean; json: boolean }
  | { type: "help" }
  | { type: "wrong"; problem: string };

/** Parses the arguments of the process. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, tokens } = parseArgs({
    args: [...args],
    options: { help: { type: "boolean", short: "h" } },
    // The parser's own error messages are several sentences long.
    strict: false,
    tokens: true,
  });
  if (values["help"]) return { type: "help" };
  for (const token of tokens) {
    if (token.kind !== "option") return { type: "wrong", problem: "Unexpected argument" };
    if (!KNOWN.has(token.name)) return { type: "wrong", problem: `Unknown flag ${token.rawName}` };
    if (token.value !== undefined) return { type: "wrong", problem: `${token.rawName} takes no value` };
  }
  const given = (name: string) => values[name] === true;
  if (given("if-empty") && (given("force") || given("dry-run"))) {
    return { type: "wrong", problem: "--if-empty cannot be combined with --force or --dry-run" };
  }
  return { type: "run", mode: modeOf(given), force: given("force"), json: given("json") };
}

const KNOWN: ReadonlySet<string> = new Set(["once", "dry-run", "force", "if-empty", "json"]);

function modeOf(has: (name: string) => boolean): SyncMode {
  if (has("dry-run")) return "dry-run";
  if (has("if-empty")) return "if-empty";
  return has("once") || has("force") || has("json") ? "once" : "schedule";
}
