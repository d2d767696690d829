/** Opens what a process of the service needs: its configuration, log and traces, and connections that it has checked. */
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
  /** Printed on `--help`. */
  usage: string;
  /** Connections for everything but exports. */
  requests(config: Config): PoolOptions & { url: string };
  /** Connections for snapshots; as many on the replica, and on each node. */
  exports(config: Config): { applicationName: string; max: number; lanesMax?: number };
  openQueue(sql: Pool, onError: (error: unknown) => void): Promise<Boss>;
  /** Called once the database is known to be usable. */
  check?(sql: Pool, log: Log): Promise<void>;
}

export interface OpenProcess {
  host: Host;
  config: Config;
  log: Log;
  /** For requests and background work. */
  sql: Pool;
  /** For exports, whose readers may be slow: they must not keep others waiting. */
  exportSql: Pool;
  /** Where exports and the catalog are read while the replica is current; null without a replica. */
  replica: Replica | null;
  /** Where exports are read if the tracker tables are distributed; else null. */
  nodes: Nodes | null;
  /** Where background jobs are queued. */
  boss: Boss;
  /** Null if tracing is off. */
  tracing: Tracing | null;
  /** Closes the connections. */
  close(): Promise<void>;
}

/** Exits with a line on stderr that says what is wrong with the arguments, the configuration or the database. */
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
    // At once: one after the other, two servers that are silent would take longer than there is time.
    const pools = [exportSql, sql].map((pool) => pool.end({ timeout: 2 }));
    await Promise.all([replica?.close(), nodes?.close(), ...pools]);
  };
  return { host, config, log, sql, exportSql, replica, nodes, boss, tracing, close };
}

/** Returns the result of `start`, or exits with its error. */
export async function startOrExit<Result>(host: Host, start: () => Promise<Result>): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    const text = error instanceof Error ? error.message || error.name : String(error);
    return host.fail([describeConnectionFailure(error) ?? `Cannot start: ${text}`]);
  }
}

/** For a process that needs no pooler: one that cannot be reached does not keep it from starting. */
async function requireSameIfReachable(url: string, direct: Pool): Promise<void> {
  try {
    await requireSameBehindPooler(url, direct);
  } catch (error) {
    if (!isConnectionError(error)) throw error;
  }
}

/**
 * Throws if `direct` leads to a pooler, if it leads to another database than `sql`, or if the schema is not the one of this
 * release. Warns about clear text, and about a newer schema.
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
