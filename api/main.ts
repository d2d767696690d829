/** Entry point of the API process: configuration, connections, the socket, and leaving in order. */
import { collectDefaultMetrics } from "prom-client";
import { type Config, readConfig } from "../shared/config.ts";
import { createLog, type Log, redactSecrets } from "../shared/log.ts";
import { createShutdown } from "../shared/shutdown.ts";
import { API_APPLICATION, EXPORT_APPLICATION } from "../sql/connections.ts";
import { listPendingMigrations } from "../sql/migrate.ts";
import { openPool, type Pool } from "../sql/pool.ts";
import { type AppDeps, buildApp } from "./app.ts";
import { listen } from "./listen.ts";
import { createMetrics } from "./metrics.ts";

/** Contract section 8: what is running at SIGTERM has 25 s to finish. */
const FINISH_TIMEOUT_MS = 25_000;

/** Says why the process cannot go on, a line each, and ends it. */
function refuse(...problems: readonly string[]): never {
  for (const problem of problems) process.stderr.write(`${redactSecrets(problem)}\n`);
  process.exit(1);
}

function configOrRefuse(): Config {
  const result = readConfig(process.env);
  return result.ok ? result.config : refuse(...result.problems);
}

/** Exports have connections of their own: readers who take their time keep no request waiting. */
function openPools({ databaseUrl, databasePoolMax, exportStreamsMax }: Config): {
  sql: Pool;
  exportSql: Pool;
} {
  return {
    sql: openPool(databaseUrl, { applicationName: API_APPLICATION, max: databasePoolMax }),
    exportSql: openPool(databaseUrl, {
      applicationName: EXPORT_APPLICATION,
      max: exportStreamsMax,
      readOnly: true,
    }),
  };
}

async function refuseWhenBehind(sql: Pool): Promise<void> {
  try {
    const pending = await listPendingMigrations(sql);
    if (pending.length === 0) return;
    refuse(`Cannot start: ${pending.length} migrations are pending; run \`bun run migrate\` first`);
  } catch (error) {
    refuse(`Cannot start: ${error instanceof Error ? error.message || error.name : String(error)}`);
  }
}

function listenOrRefuse(deps: AppDeps): Bun.Server<undefined> {
  const { host, port, trustProxy } = deps.config;
  try {
    return listen(buildApp(deps), { host, port, trustProxy });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    if (code === "EADDRINUSE") refuse(`Cannot listen on ${host}:${port}: the port is taken`);
    return refuse(`Cannot listen on ${host}:${port}: ${code}`);
  }
}

/** Signals leave in order; so does a bug nobody caught, since what it left behind is unknown. */
function installHandlers(log: Log, shutdown: (reason: string, exitCode?: number) => void): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => shutdown(signal));
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event);
      shutdown(event, 1);
    });
  }
}

async function main(): Promise<void> {
  const config = configOrRefuse();
  const log = createLog({ level: config.logLevel, process: "api" });
  const { sql, exportSql } = openPools(config);
  await refuseWhenBehind(sql);
  const metrics = createMetrics();
  collectDefaultMetrics({ register: metrics.registry });
  const leaving = new AbortController();
  const server = listenOrRefuse({ config, sql, exportSql, log, metrics, leaving: leaving.signal });

  const shutdown = createShutdown({
    log,
    exit: (code) => process.exit(code),
    phases: [
      {
        name: "finish requests",
        timeoutMs: FINISH_TIMEOUT_MS,
        run: () => {
          leaving.abort();
          return server.stop();
        },
      },
      { name: "close connections", timeoutMs: 1_000, run: () => server.stop(true) },
      {
        name: "close database",
        timeoutMs: 3_000,
        run: async () => {
          await Promise.all([exportSql.end({ timeout: 2 }), sql.end({ timeout: 2 })]);
        },
      },
    ],
  });
  installHandlers(log, shutdown);
  log.info({ host: config.host, port: server.port, publicUrl: config.publicUrl }, "listening");
}

await main();
