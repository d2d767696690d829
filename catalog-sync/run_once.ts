/** One run for a person or a script: what it prints, and the exit code. */
import type { SyncMode } from "./command_line.ts";
import { fillIfEmpty } from "./first_catalog.ts";
import type { CatalogSource } from "./source.ts";
import { describePlan, summarize } from "./summary.ts";
import { dryRunSync, type SyncDeps, syncCatalog } from "./sync.ts";

export interface OnceOptions {
  source: CatalogSource;
  mode: Exclude<SyncMode, "schedule">;
  force: boolean;
}

export interface OnceResult {
  /** 0 when all is well or another run does the work; 1 when the last good catalogue had to stay. */
  exitCode: 0 | 1;
  stdout: string;
  stderr: string;
}

export async function runOnce(deps: SyncDeps, { source, mode, force }: OnceOptions): Promise<OnceResult> {
  if (mode === "dry-run") return runDry(deps, { source, force });
  if (mode === "if-empty") {
    return (await fillIfEmpty(deps, source)) ? printed("") : refused("Cannot load a first catalogue\n");
  }
  const { isGood, text } = summarize(await syncCatalog(deps, { source, force }), source.label);
  return isGood ? printed(text) : refused(text);
}

async function runDry(deps: SyncDeps, { source, force }: Omit<OnceOptions, "mode">): Promise<OnceResult> {
  try {
    const dry = await dryRunSync(deps, { source });
    const stdout = describePlan(dry, source.label);
    return { exitCode: dry.suspicion === null || force ? 0 : 1, stdout, stderr: "" };
  } catch (error) {
    return refused(
      `Cannot sync the catalogue from ${source.label}: ${error instanceof Error ? error.message : error}\n`,
    );
  }
}

function printed(stdout: string): OnceResult {
  return { exitCode: 0, stdout, stderr: "" };
}

function refused(stderr: string): OnceResult {
  return { exitCode: 1, stdout: "", stderr };
}
