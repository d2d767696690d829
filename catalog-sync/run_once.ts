/** Runs one sync for a person or a script. */
import { findLastGoodSync } from "../sql/models/catalog_syncs.ts";
import type { SyncMode } from "./command_line.ts";
import { fillAndSync, fillIfEmpty } from "./first_catalog.ts";
import type { CatalogSource } from "./source.ts";
import { describeFailure, describePlan, type Summary, summarize } from "./summary.ts";
import { dryRunSync, type SyncDeps } from "./sync.ts";

const NOTHING_TO_DO: Summary = { exitCode: 0, stdout: "", stderr: "", json: { outcome: "unchanged" } };

interface OnceOptions {
  source: CatalogSource;
  mode: Exclude<SyncMode, "schedule">;
  force: boolean;
}

/** Runs one sync and describes it. Never throws for a source that cannot be loaded. */
export async function runOnce(deps: SyncDeps, { source, mode, force }: OnceOptions): Promise<Summary> {
  if (mode === "dry-run") return runDry(deps, { source, force });
  const isFill = mode === "if-empty";
  const filled = isFill ? await fillIfEmpty(deps, source) : await fillAndSync(deps, { source, force });
  const served = await findLastGoodSync(deps.sql);
  const synced = filled?.report && summarize(filled.report, { label: source.label, served });
  const standIn = filled?.bundled && summarize(filled.bundled, { label: "bundled", served });
  // With the bundled copy, an empty database has what it needs.
  const [first, last] = isFill ? [synced, standIn] : [standIn, synced];
  if (!first || !last) return first ?? last ?? NOTHING_TO_DO;
  return { ...last, stdout: first.stdout + last.stdout, stderr: first.stderr + last.stderr };
}

async function runDry(deps: SyncDeps, { source, force }: Omit<OnceOptions, "mode">): Promise<Summary> {
  const { label } = source;
  try {
    const dry = await dryRunSync(deps, { source, force });
    const doubts = dry.hold?.doubts.map(({ reason }) => reason) ?? [];
    const json = { outcome: "planned", source: label, ...dry.plan.counts, doubts };
    const exitCode = doubts.length === 0 || force ? 0 : 1;
    return { exitCode, stdout: describePlan(dry, label), stderr: "", json };
  } catch (error) {
    return describeFailure(label, error instanceof Error ? error.message : String(error));
  }
}
