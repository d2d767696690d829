/** Entry point of the model catalog's sync. Syncs once, or on a schedule until SIGTERM. */

import { Counter } from "prom-client";
import { toJsonLine } from "../shared/json_lines.ts";
import { serveMetricsOrExit } from "../shared/monitoring/metrics_server.ts";
import { createProcessRegistry } from "../shared/monitoring/process_metrics.ts";
import { EXIT_USAGE } from "../shared/process/arguments.ts";
import {
  type Host,
  openHost,
  openProcessLog,
  readConfigOrExit,
  stopOnSignals,
} from "../shared/process/entry_point.ts";
import { redactSecrets } from "../shared/process/log.ts";
import { tolerateLostOutput } from "../shared/process/lost_output.ts";
import { onStdinEnd } from "../shared/process/stdin_end.ts";
import { describeUnknownVariables } from "../shared/process/unknown_variables.ts";
import { openTracing } from "../shared/tracing/open_tracing.ts";
import { CATALOG_APPLICATION } from "../sql/connection/application_names.ts";
import { openPool } from "../sql/connection/pool.ts";
import { findLastGoodSync } from "../sql/models/catalog_syncs.ts";
import { registerPoolMetrics } from "../sql/monitoring/pool_metrics.ts";
import { respondReady, watchDatabase } from "../sql/monitoring/readiness.ts";
import { requireUsableDatabase, startOrExit } from "../sql/open_process.ts";
import { parseCommandLine, type SyncMode, USAGE } from "./command_line.ts";
import { fillAndSync, fillIfEmpty } from "./first_catalog.ts";
import { startSchedule } from "./schedule.ts";
import { type CatalogSource, openSource } from "./source.ts";
import { describeFailure, describePlan, errorJson, type Summary, summarize } from "./summary.ts";
import { dryRunSync, type SyncDeps, type SyncReport } from "./sync.ts";

/** One connection for the sync, and one to record a failed sync. */
const POOL_MAX = 2;
/** Writing takes a few seconds at most. Downloads are aborted at shutdown. */
const FINISH_MS = 20_000;

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const command = parseCommandLine(args);
  const isService = command.type === "run" && command.mode === "schedule";
  if (!isService) tolerateLostOutput(process);
  if (command.type === "help") {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const own = openHost(process, isService ? "catalog-sync" : undefined);
  const host = args.includes("--json") ? { ...own, fail: failWithJson(own) } : own;
  if (command.type === "wrong") {
    return host.fail([`${command.problem}. See \`bun run catalog-sync --help\`.`], EXIT_USAGE);
  }
  const config = readConfigOrExit(host);
  const { mode, force, json } = command;
  // A single run prints a summary instead of log lines.
  const level = mode === "schedule" ? config.logLevel : "silent";
  const log = openProcessLog(process, { logLevel: level }, "catalog-sync");
  if (mode === "once")
    for (const line of describeUnknownVariables(process.env)) process.stderr.write(`${line}\n`);
  const sql = openPool(config.databaseDirectUrl, { applicationName: CATALOG_APPLICATION, max: POOL_MAX });
  const source = await startOrExit(host, async () => {
    const warn = (event: string, message: string): void => {
      if (mode === "schedule") log.warn({ event }, message);
      else process.stderr.write(`${message}\n`);
    };
    await requireUsableDatabase({ sql, direct: sql }, warn);
    return openSource(config.catalogSource);
  });
  const stop = new AbortController();
  const deps = { sql, log, shutdownSignal: stop.signal };
  if (mode !== "schedule") {
    onStdinEnd(process, () => process.exit(1));
    const summary = await runOnce(deps, { source, mode, force });
    process.stdout.write(json ? `${toJsonLine(summary.json)}\n` : summary.stdout);
    process.stderr.write(summary.stderr);
    await sql.end({ timeout: 1 });
    process.exit(summary.exitCode);
  }

  const { registry, onOutcome, respondReady } = createSyncMetrics(deps);
  const metricsServer = serveMetricsOrExit(host, config, { registry, respondReady, log });
  const tracing = await openTracing(process.env, { serviceName: "ulr-catalog-sync", log });
  const schedule = startSchedule({ ...deps, onOutcome, tracing }, { source, cron: config.catalogSyncCron });
  stopOnSignals(process, {
    log,
    tracing,
    phases: [
      {
        name: "finish the sync",
        timeoutMs: FINISH_MS,
        run: () => {
          stop.abort();
          return schedule.finish();
        },
      },
    ],
    close: async () => {
      await metricsServer?.stop(true);
      await sql.end({ timeout: 1 });
    },
  });
}

const NOTHING_TO_DO: Summary = { exitCode: 0, stdout: "", stderr: "", json: { outcome: "unchanged" } };

interface OnceOptions {
  source: CatalogSource;
  mode: Exclude<SyncMode, "schedule">;
  force: boolean;
}

/** Runs one sync for a person or a script, and returns a summary. Does not throw if a source cannot be loaded. */
async function runOnce(deps: SyncDeps, { source, mode, force }: OnceOptions): Promise<Summary> {
  if (mode === "dry-run") return runDry(deps, { source, force });
  const isFill = mode === "if-empty";
  const filled = isFill ? await fillIfEmpty(deps, source) : await fillAndSync(deps, { source, force });
  const served = await findLastGoodSync(deps.sql);
  const synced = filled?.report && summarize(filled.report, { label: source.label, served });
  const standIn = filled?.bundled && summarize(filled.bundled, { label: "bundled", served });
  // The last summary decides the exit code. With `--if-empty`, the bundled copy is sufficient.
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

/** Returns a `fail` function for `--json`, which also prints the problems as one object on stdout. */
function failWithJson(host: Host): Host["fail"] {
  return (problems, exitCode = 1) => {
    const code = exitCode === EXIT_USAGE ? "USAGE" : "FAILED";
    process.stdout.write(`${toJsonLine(errorJson(code, redactSecrets(problems.join("\n"))))}\n`);
    return host.fail(problems, exitCode);
  };
}

const OUTCOMES: readonly SyncReport["outcome"][] = ["changed", "unchanged", "refused", "failed", "busy"];

/** Creates the metrics registry of the process, the counter of syncs, and the handler of GET /health/ready. */
function createSyncMetrics({ sql, shutdownSignal }: SyncDeps) {
  const registry = createProcessRegistry();
  const checkDatabase = watchDatabase(sql, { registry });
  registerPoolMetrics(registry, { sync: sql });
  const syncs = new Counter({
    name: "catalog_syncs_total",
    help: "Catalog syncs of this process, by outcome; busy means that another process synced",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of OUTCOMES) syncs.inc({ outcome }, 0);
  return {
    registry,
    onOutcome: (outcome: SyncReport["outcome"]) => syncs.inc({ outcome }),
    respondReady: () => respondReady({ checkDatabase, shutdownSignal }),
  };
}

await main();
