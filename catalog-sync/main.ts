/** Entry point of the model catalog's sync: once, or on its schedule until SIGTERM. */
import { toJsonLine } from "../shared/json_lines.ts";
import { serveMetricsOrExit } from "../shared/monitoring/metrics_server.ts";
import {
  openProcessLog,
  readConfigOrExit,
  serviceHost,
  startOrExit,
  stopOnSignals,
} from "../shared/process/entry_point.ts";
import { onStdinEnd } from "../shared/process/stdin_end.ts";
import { describeUnknownVariables } from "../shared/process/unknown_variables.ts";
import { openTracing } from "../shared/tracing/open_tracing.ts";
import { CATALOG_APPLICATION } from "../sql/connection/application_names.ts";
import { describeConnectionFailure } from "../sql/connection/connection_failure.ts";
import { openPool } from "../sql/connection/pool.ts";
import { requireUsableDatabase } from "../sql/open_process.ts";
import { parseCommandLine, USAGE } from "./command_line.ts";
import { jsonHost } from "./json_host.ts";
import { runOnce } from "./run_once.ts";
import { startSchedule } from "./schedule.ts";
import { openSource } from "./source.ts";
import { createSyncMetrics } from "./sync_metrics.ts";

const EXIT_USAGE = 2;
/** One for the sync, one to record its failure. */
const POOL_MAX = 2;
/** Writing takes a few seconds at most; a download is cut off. */
const FINISH_MS = 20_000;

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const command = parseCommandLine(args);
  if (command.type === "help") {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const isService = command.type === "run" && command.mode === "schedule";
  const own = isService ? serviceHost(process, "catalog-sync") : process;
  const host = args.includes("--json") ? jsonHost(process) : own;
  if (command.type === "wrong") {
    host.stderr.write(`${command.problem}. See \`bun run catalog-sync --help\`.\n`);
    return host.exit(EXIT_USAGE);
  }
  const config = readConfigOrExit(host);
  const { mode, force, json } = command;
  // A single run prints a summary for people instead of log lines.
  const level = mode === "schedule" ? config.logLevel : "silent";
  const log = openProcessLog(process, { logLevel: level }, "catalog-sync");
  if (mode === "once")
    for (const line of describeUnknownVariables(process.env)) process.stderr.write(`${line}\n`);
  const sql = openPool(config.databaseDirectUrl, { applicationName: CATALOG_APPLICATION, max: POOL_MAX });
  const source = await startOrExit(host, describeConnectionFailure, async () => {
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
    const result = await runOnce(deps, { source, mode, force });
    const { exitCode } = result;
    process.stdout.write(json ? `${toJsonLine(result.json)}\n` : result.stdout);
    process.stderr.write(result.stderr);
    await sql.end({ timeout: 1 });
    process.exit(exitCode);
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

await main();
