/** The output of `--once` and `--dry-run`. */
import { modelName } from "../shared/models/model_name.ts";
import type { GoodSync, SyncCounts } from "../sql/models/catalog_syncs.ts";
import type { ModelAlias } from "../sql/models/model_aliases.ts";
import { comparePrices, type PriceChange } from "../sql/models/model_price_changes.ts";
import { describeHold } from "./document_doubts.ts";
import { describeOrigin, describeServed } from "./notes.ts";
import type { PlannedSync } from "./store_document.ts";
import type { SyncReport } from "./sync.ts";

/** The maximum number of lines per kind of change. The remaining changes are counted. */
const MAX_LISTED = 50;

export interface Summary {
  /** 0 if the sync succeeded or another process has synced; 1 if the sync failed or its document is held. */
  exitCode: 0 | 1;
  stdout: string;
  stderr: string;
  /** The result as JSON, for scripts. */
  json: object;
}

/** Returns a failure as `--json` prints it. */
export function errorJson(code: "USAGE" | "FAILED", message: string) {
  return { error: { code, message } };
}

/** Describes a failed sync and the reason. */
export function describeFailure(label: string, reason: string): Summary {
  const message = `Cannot sync the model catalog from ${label}: ${reason}`;
  return { exitCode: 1, stdout: "", stderr: `${message}\n`, json: errorJson("FAILED", message) };
}

/** Describes a sync from the source named `label`. The last line names the served catalog. */
export function summarize(
  report: SyncReport,
  { label, served }: { label: string; served: GoodSync | null },
): Summary {
  if (report.outcome === "busy") {
    const stdout = `Another process has synced the model catalog. Nothing to do; ${describeServed(served)}.\n`;
    return { exitCode: 0, stdout, stderr: "", json: { outcome: "busy" } };
  }
  if ("error" in report) return describeFailure(label, `${report.error}; ${describeServed(served)}`);
  const { outcome, dataDate, counts, notes } = report;
  const origin = describeOrigin({ source: label, dataDate });
  const lines = [...notes];
  if (counts.held > 0) lines.push("Prices that wait: `bun run admin catalog held` lists them");
  lines.push(`Synced the model catalog with ${origin}: ${countsInWords(counts)}`);
  return {
    exitCode: 0,
    stdout: `${lines.join("\n")}\n`,
    stderr: "",
    json: { outcome, source: label, dataDate, ...counts, notes },
  };
}

/** Describes a plan. Lists the rows that would change, up to a maximum per kind. */
export function describePlan({ plan, notes, hold }: PlannedSync, label: string): string {
  const sections: readonly (readonly [kind: string, rows: readonly string[]])[] = [
    ["new provider or changed", plan.providers.map(({ id }) => id)],
    ["provider gone", plan.goneProviders],
    ["insert", plan.inserted.map(modelName)],
    ["update", plan.updated.map(modelName)],
    ["gone", plan.gone.map(modelName)],
    ["price", describeChanges(plan.priceChanges)],
    ["alias", plan.aliases.map(describeAlias)],
    ["hold", plan.held.flatMap((row) => describeChanges(comparePrices(row, row.currentPrices, row.prices)))],
  ];
  const lines = [...sections.flatMap(([kind, rows]) => list(kind, rows)), ...notes];
  lines.push(`A sync from ${label} would be: ${countsInWords(plan.counts)}`);
  if (hold) lines.push(`Without --force, ${describeHold(hold)}`);
  return `${lines.join("\n")}\n`;
}

function describeAlias(alias: ModelAlias): string {
  return `${alias.alias} → ${modelName(alias)}${alias.deprecated ? " (deprecated)" : ""}`;
}

function countsInWords({ inserted, updated, gone, unchanged, skipped, held }: SyncCounts): string {
  return `${inserted} inserted, ${updated} updated, ${gone} gone, ${unchanged} unchanged, ${skipped} skipped, ${held} held`;
}

function describeChanges(changes: readonly PriceChange[]): string[] {
  return changes.map(
    (change) =>
      `${modelName(change)} ${change.field}: ${change.oldValue ?? "none"} → ${change.newValue ?? "none"}`,
  );
}

function list(kind: string, rows: readonly string[]): string[] {
  const rest = rows.length - MAX_LISTED;
  const shown = rest > 0 ? [...rows.slice(0, MAX_LISTED), `and ${rest} more`] : rows;
  return shown.map((row) => `${kind}: ${row}`);
}
