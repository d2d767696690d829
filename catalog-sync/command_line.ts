/** What `bun run catalog-sync` understands. */
import { parseArgs } from "node:util";

export const USAGE = `Usage: bun run catalog-sync [--once] [--dry-run] [--force] [--if-empty]

Without flags it syncs the model catalogue now and then on the schedule of CATALOG_SYNC_CRON. The others imply --once.

  --once      one sync, a summary, and the exit code says how it went
  --dry-run   prints what a sync would change, and changes nothing
  --force     asks without condition, and takes a document with few models or none too
  --if-empty  only gives an empty database a first catalogue, from this machine
  --help      this text
`;

export type SyncMode = "schedule" | "once" | "dry-run" | "if-empty";

export type CommandLine =
  | { ok: true; mode: SyncMode; force: boolean }
  | { ok: false; problem: string | null };

/** Reads the arguments; `problem` is null when help was asked for. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        once: { type: "boolean", default: false },
        "dry-run": { type: "boolean", default: false },
        force: { type: "boolean", default: false },
        "if-empty": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const { once, force } = values;
    if (values.help) return { ok: false, problem: null };
    if (values["if-empty"] && (force || values["dry-run"])) {
      return { ok: false, problem: "--if-empty stands alone" };
    }
    if (values["dry-run"]) return { ok: true, mode: "dry-run", force };
    if (values["if-empty"]) return { ok: true, mode: "if-empty", force };
    return { ok: true, mode: once || force ? "once" : "schedule", force };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}
