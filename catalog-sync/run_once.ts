/** Runs one sync for a person or a script: its output and exit code. */
import { findLastGoodSync } from "../sql/models/catalog_syncs.ts";
import type { SyncMode } from "./command_line.ts";
import { fillAndSync, fillIfEmpty } from "./first_catalog.ts";
import type { CatalogSource } from "./source.ts";
import { describePlan, errorJson, type Summary, summarize } from "./summary.ts";
import { dryRunSync, type SyncDeps } from "./sync.ts";

export interface OnceOptions {
  source: CatalogSource;
  mode: Exclude<SyncMode, "schedule">;
  force: boolean;
}

export interface OnceResult {
  /** 0 if the sync succeeded or another process did it; 1 if it failed. */
  exitCode: 0 | 1;
  stdout: string;
  stderr: string;
  /** The result for scripts. */
  json: object;
}

/** Runs one sync. Never throws for a source that cannot be loaded. */
export async function runOnce(deps: SyncDeps, { source, mode, force }: OnceOptions): Promise<OnceResult> {
  if (mode === "dry-run") return runDry(deps, { source, force });
  if (mode === "if-empty") return fill(deps, source);
  const { report, bundled } = await fillAndSync(deps, { source, force });
  const served = await findLastGoodSync(deps.sql);
  const synced = summarize(report, { label: source.label, served });
  if (!bundled) return printed(synced);
  const first = summarize(bundled, { label: "bundled", served });
  const { exitCode, stdout, stderr, json } = printed(synced);
  return { exitCode, stdout: first.text + stdout, stderr, json };
}

/** With the bundled copy, an empty database has what it needs. */
async function fill(deps: SyncDeps, source: CatalogSource): Promise<OnceResult> {
  const filled = await fillIfEmpty(deps, source);
  const served = await findLastGoodSync(deps.sql);
  const report = filled?.report && summarize(filled.report, { label: source.label, served });
  const bundled = filled?.bundled && summarize(filled.bundled, { label: "bundled", served });
  if (bundled) return printed(bundled, report?.text);
  return report ? printed(report) : { exitCode: 0, stdout: "", stderr: "", json: { outcome: "unchanged" } };
}

async function runDry(deps: SyncDeps, { source, force }: Omit<OnceOptions, "mode">): Promise<OnceResult> {
  try {
    const dry = await dryRunSync(deps, { source, force });
    const doubts = dry.hold?.doubts.map(({ reason }) => reason) ?? [];
    const json = { outcome: "planned", source: source.label, ...dry.plan.counts, doubts };
    const exitCode = doubts.length === 0 || force ? 0 : 1;
    return { exitCode, stdout: describePlan(dry, source.label), stderr: "", json };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `Cannot sync the model catalog from ${source.label}: ${reason}`;
    return printed({ isGood: false, text: `${message}\n`, json: errorJson("FAILED", message) });
  }
}

function printed({ isGood, text, json }: Summary, warning = ""): OnceResult {
  if (!isGood) return { exitCode: 1, stdout: "", stderr: warning + text, json };
  return { exitCode: 0, stdout: text, stderr: warning, json };
}
