/** Runs a PostgreSQL server with a streaming replica for one test, from the same programs as the tests' server. */
import { appendFileSync, chmodSync, cpSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  databaseUrlPath,
  OWNER_ROLE,
  RUNTIME_ROLE,
  SUPERUSER,
} from "../../../deploy/local/embedded_postgres.ts";
import { openPool, type Pool } from "../../../sql/connection/pool.ts";
import { waitFor } from "../wait_for.ts";
import { OwnServer } from "./own_server.ts";

export interface ReplicatedServer extends AsyncDisposable {
  primaryUrl: string;
  replicaUrl: string;
  /** Connections to the replica's `postgres` database. */
  replica: Pool;
  /** Stops the replica and breaks its connections. */
  stopReplica(): Promise<void>;
  startReplica(): Promise<void>;
  /** Waits until the replica has replayed all WAL that the primary has flushed. */
  catchUp(primary: Pool): Promise<void>;
  /** Pauses the replica's replay of received WAL; `false` resumes it. */
  holdReplay(isHeld: boolean): Promise<void>;
  /** Stops streaming replication from the primary; `false` restarts it. */
  cutOff(isCutOff: boolean): Promise<void>;
  /** Promotes the replica and makes the old primary its standby. */
  switchOver(): Promise<void>;
}

/** Returns the folder of a server's cluster. */
function clusterOf(server: OwnServer): string {
  return realpathSync(join(server.directory, "postgres"));
}

/**
 * Makes a server the standby of a primary. Sets `primary_conninfo` in `postgresql.conf`, so that `alter system reset`
 * restores it.
 */
function makeStandby(server: OwnServer, primaryUrl: string): void {
  const cluster = clusterOf(server);
  writeFileSync(join(cluster, "standby.signal"), "");
  appendFileSync(
    join(cluster, "postgresql.conf"),
    `primary_conninfo = '${primaryUrl.replace(/\/[^/]*$/, "")}/?application_name=replica'\n`,
  );
}

/** Creates the replica's files. A copy of a stopped primary is a valid base backup. */
function cloneStandby(primary: OwnServer, replica: OwnServer, primaryUrl: string): void {
  const cluster = join(replica.directory, "postgres");
  cpSync(clusterOf(primary), cluster, { recursive: true, preserveTimestamps: true });
  chmodSync(cluster, 0o700);
  makeStandby(replica, primaryUrl);
  // The replica has the primary's passwords. Port 0 selects any free port.
  for (const role of [RUNTIME_ROLE, OWNER_ROLE, SUPERUSER] as const) {
    const kept = readFileSync(databaseUrlPath(primary.directory, role), "utf8");
    const url = kept.replace(/:\d+\//, ":0/");
    writeFileSync(databaseUrlPath(replica.directory, role), url);
  }
}

/** Starts the primary and the replica. Disposal stops both servers. */
export async function openReplicatedServer(): Promise<ReplicatedServer> {
  const primary = new OwnServer();
  const replica = new OwnServer();
  const dispose = async () => {
    await Promise.all([replica, primary].map((server) => server[Symbol.asyncDispose]()));
  };
  try {
    const firstUrl = await primary.start();
    await primary.stop();
    appendFileSync(
      join(clusterOf(primary), "pg_hba.conf"),
      "host replication all 127.0.0.1/32 scram-sha-256\n",
    );
    cloneStandby(primary, replica, firstUrl);
    const primaryUrl = await primary.start();
    const replicaUrl = await replica.start();
    const sql = openPool(replicaUrl, { applicationName: "test-replica", max: 2 });
    return {
      primaryUrl,
      replicaUrl,
      replica: sql,
      stopReplica: () => replica.stop(),
      startReplica: async () => void (await replica.start()),
      async catchUp(primary) {
        const [written] = await primary<[{ position: string }]>`
          select pg_current_wal_flush_lsn()::text as position`;
        await waitFor(async () => {
          const [row] = await sql<[{ isReplayed: boolean }]>`
            select pg_last_wal_replay_lsn() >= ${written.position}::pg_lsn as is_replayed`;
          return row.isReplayed;
        });
      },
      async holdReplay(isHeld) {
        await (isHeld ? sql`select pg_wal_replay_pause()` : sql`select pg_wal_replay_resume()`);
      },
      async cutOff(isCutOff) {
        await (isCutOff
          ? sql`alter system set primary_conninfo = ''`
          : sql`alter system reset primary_conninfo`);
        await sql`select pg_reload_conf()`;
        await waitFor(async () => {
          const [row] = await sql<[{ isStreaming: boolean }]>`
            select exists (select from pg_stat_wal_receiver where status = 'streaming') as is_streaming`;
          return row.isStreaming !== isCutOff;
        });
      },
      async switchOver() {
        await primary.stop();
        await sql`select pg_promote()`;
        makeStandby(primary, replicaUrl);
        await primary.start();
      },
      async [Symbol.asyncDispose]() {
        await sql.end({ timeout: 1 });
        await dispose();
      },
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}
