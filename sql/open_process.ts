/** Opens the resources of a service process: configuration, log, tracing and checked database connections. */
import { requireNoArguments } from "../shared/process/arguments.ts";
import type { Config } from "../shared/process/config.ts";
import { type Host, openHost, openProcessLog, readConfigOrExit } from "../shared/process/entry_point.ts";
import type { Log } from "../shared/process/log.ts";
import { openTracing } from "../shared/tracing/open_tracing.ts";
import type { Tracing } from "../shared/tracing/tracing.ts";
import { describeConnectionFailure } from "./connection/database_fault.ts";
import {
  requireDirectConnection,
  requireSameBehindPooler,
  requireSameDatabase,
  warnIfClearText,
} from "./connection/direct_connection.ts";
import type { Nodes } from "./connection/nodes.ts";
import { isConnectionError, openPool, type Pool, type PoolOptions } from "./connection/pool.ts";
import { Replica } from "./connection/replica.ts";
import type { Boss } from "./job_queue.ts";
import { requireCompatibleSchema } from "./schema_state.ts";
import { requireTracker } from "./tracker/tracker_differences.ts";
import { openNodes } from "./tracker/tracker_shards.ts";

export interface ProcessNeeds {
  name: "api" | "jobs";
  /** The text printed on `--help`. */
  usage: string;
  /** Returns the options of the pool for all queries except exports. */
  requests(config: Config): PoolOptions & { url: string };
  /** Returns the options of the pool for export snapshots. The replica and each node get a pool of the same size. */
  exports(config: Config): { applicationName: string; max: number; lanesMax?: number };
  openQueue(sql: Pool, onError: (error: unknown) => void): Promise<Boss>;
  /** Called after the database checks have passed. */
  check?(sql: Pool, log: Log): Promise<void>;
}

export interface OpenProcess {
  host: Host;
  config: Config;
  log: Log;
  /** The pool for requests and background work. */
  sql: Pool;
  /** The pool for exports. Slow readers of exports must not block other queries. */
  exportSql: Pool;
  /** The replica that serves exports and the catalog while it is current; null if no replica is configured. */
  replica: Replica | null;
  /** The nodes that exports read from; null if the tracker tables are not distributed. */
  nodes: Nodes | null;
  /** The queue for background jobs. */
  boss: Boss;
  /** Null if tracing is off. */
  tracing: Tracing | null;
  /** Stops the queue and closes all connections. */
  close(): Promise<void>;
}

/**
 * Opens the resources of a process. Prints the reason on stderr and exits if the arguments, the configuration or the database
 * cannot be used.
 */
export async function openProcess(
  process: Parameters<typeof requireNoArguments>[0] & Parameters<typeof openHost>[0],
  needs: ProcessNeeds,
): Promise<OpenProcess> {
  requireNoArguments(process, needs.usage);
  const host = openHost(process, needs.name);
  const config = readConfigOrExit(host);
  const log = openProcessLog(host, config, needs.name);
  const { url, ...requests } = needs.requests(config);
  const exports = needs.exports(config);
  const { applicationName, max } = exports;
  const sql = openPool(url, requests);
  const exportSql = openPool(config.databaseDirectUrl, { applicationName, max, readOnly: true });
  const { databaseReplicaUrl } = config;
  const replica = databaseReplicaUrl
    ? new Replica(databaseReplicaUrl, { primary: sql, log, ...exports })
    : null;
  const { boss, nodes } = await startOrExit(host, async () => {
    await requireUsableDatabase({ sql, direct: requests.isPooled ? exportSql : sql }, (event, message) =>
      log.warn({ event }, message),
    );
    if (url !== config.databaseUrl) await requireSameIfReachable(config.databaseUrl, sql);
    void replica?.warnIfClearText();
    await requireTracker(sql, config.trackerSchema);
    await needs.check?.(sql, log);
    return {
      boss: await needs.openQueue(sql, (error) =>
        log.warn({ err: error }, "the job queue reported an error"),
      ),
      nodes: await openNodes(sql, { url: config.databaseDirectUrl, log, ...exports }),
    };
  });
  const tracing = await openTracing(host.env, { serviceName: `ulr-${needs.name}`, log });
  const close = async (): Promise<void> => {
    await boss.stop({ graceful: false });
    // The pools are closed concurrently. In sequence, two servers that do not respond would exceed the time limit.
    const pools = [exportSql, sql].map((pool) => pool.end({ timeout: 2 }));
    await Promise.all([replica?.close(), nodes?.close(), ...pools]);
  };
  return { host, config, log, sql, exportSql, replica, nodes, boss, tracing, close };
}

/** Runs `start` and returns its result. If `start` throws, prints the error and exits. */
export async function startOrExit<Result>(host: Host, start: () => Promise<Result>): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    const text = error instanceof Error ? error.message || error.name : String(error);
    return host.fail([describeConnectionFailure(error) ?? `Cannot start: ${text}`]);
  }
}

/**
 * Throws if `url` leads to another database than `direct`, unless `url` is unreachable. The process itself does not use a pooler,
 * so an unreachable pooler must not prevent its start.
 */
async function requireSameIfReachable(url: string, direct: Pool): Promise<void> {
  try {
    await requireSameBehindPooler(url, direct);
  } catch (error) {
    if (!isConnectionError(error)) throw error;
  }
}

/**
 * Throws if `direct` leads to a pooler or to another database than `sql`, or if this release cannot use the schema. Warns about
 * unencrypted connections and about a newer schema.
 */
export async function requireUsableDatabase(
  { sql, direct }: { sql: Pool; direct: Pool },
  warn: (event: string, message: string) => void,
): Promise<void> {
  await requireDirectConnection(direct);
  if (direct !== sql) await requireSameDatabase(sql, direct);
  const messages = new Set<string>();
  for (const pool of new Set([sql, direct])) await warnIfClearText(pool, (message) => messages.add(message));
  for (const message of messages) warn("database.clear_text", message);
  await requireCompatibleSchema(sql, (message) => warn("schema.newer", message));
}
