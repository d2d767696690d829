/** Checks that no connections, transactions, locks, stream slots or sockets stay open after the load. */
import { readdir } from "node:fs/promises";
import { CONCURRENT_BUILDS, CONCURRENT_MAILS } from "../../../jobs/schedule.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { countExportConnections } from "../../../sql/connection/snapshot.ts";
import { waitFor } from "../../helpers/wait_for.ts";
import type { Service } from "../service.ts";
import type { Soak } from "../soak.ts";

/** The time limit for closing connections. The API closes idle client connections after 60 s (api/listen.ts). */
const CALM_TIMEOUT_MS = 90_000;
/** The allowance for open files other than database connections, such as timers, logs and closing sockets. */
const SPARE_FILES = 10;
/**
 * `EXPORT_STREAMS_MAX` in a soak. The clients' organization may use half of the streams, and sometimes requests more.
 */
export const SOAK_STREAMS_MAX = 24;
/**
 * Maximum connections per API process: the default `DATABASE_POOL_MAX`, and the connections of export streams, estimates and lanes.
 */
const API_POOLS = {
  "ulr-api": 10,
  "ulr-export": countExportConnections(SOAK_STREAMS_MAX),
} as const;
/** Maximum connections per job runner: the pools of jobs/main.ts. */
const JOBS_POOL = 2 * CONCURRENT_BUILDS + CONCURRENT_MAILS + 3 + 3 + CONCURRENT_BUILDS;

interface SessionRow {
  name: string;
  count: number;
  busy: number;
}

/** Returns the number of open file descriptors of a process. */
export async function countFiles({ life }: Service): Promise<number> {
  return (await readdir(`/proc/${life.pid}/fd`)).length;
}

/**
 * Returns the resources that are still open after the time limit. `idleFiles` is the number of open files of each
 * process before the load.
 */
export async function listLeaks(soak: Soak, idleFiles: ReadonlyMap<Service, number>): Promise<string[]> {
  let leaks: string[] = [];
  await waitFor(async () => {
    leaks = [
      ...(await listSessions(soak)),
      ...(await listLeftovers(soak.db.sql)),
      ...(await listSlots(soak)),
      ...(await listFiles(idleFiles)),
    ];
    return leaks.length === 0;
  }, CALM_TIMEOUT_MS).catch(() => {});
  return leaks;
}

/** Describes the applications that have more sessions than their pools allow, or sessions that are not idle. */
async function listSessions({ db, apis, runners }: Soak): Promise<string[]> {
  const rows = await db.sql<SessionRow[]>`
    select application_name as name, count(*)::int as count,
      count(*) filter (where state <> 'idle' and state_change < now() - interval '2 seconds')::int as busy
    from pg_stat_activity
    where datname = current_database() and application_name like 'ulr-%'
    group by application_name`;
  const most: Readonly<Record<string, number>> = {
    "ulr-api": apis.length * API_POOLS["ulr-api"],
    "ulr-export": apis.length * API_POOLS["ulr-export"],
    "ulr-jobs": runners.length * JOBS_POOL,
  };
  return rows.flatMap(({ name, count, busy }) => [
    ...(count <= (most[name] ?? 0) ? [] : [`${count} connections of ${name}, of at most ${most[name] ?? 0}`]),
    ...(busy === 0 ? [] : [`${busy} connections of ${name} are not idle`]),
  ]);
}

/** Returns prepared transactions, replication slots, advisory locks and sessions that are idle in a transaction. */
async function listLeftovers(sql: Pool): Promise<string[]> {
  const rows = await sql<{ what: string }[]>`
    select 'the prepared transaction ' || gid as what from pg_prepared_xacts
    union all select 'the replication slot ' || slot_name from pg_replication_slots
    union all select 'an advisory lock of process ' || pid from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
    union all select 'a transaction of ' || coalesce(application_name, '') || ' left open' from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`;
  return rows.map(({ what }) => what);
}

async function listSlots({ apis }: Soak): Promise<string[]> {
  const leaks: string[] = [];
  for (const api of apis) {
    const text = await (await fetch(`${api.url}/metrics`)).text();
    const [, taken] = /^export_stream_slots_in_use(?:\{[^}]*\})? (\d+)$/m.exec(text) ?? [];
    if (taken !== "0") leaks.push(`${api.name} holds ${taken ?? "nobody knows how many"} stream slots`);
  }
  return leaks;
}

async function listFiles(idleFiles: ReadonlyMap<Service, number>): Promise<string[]> {
  const pools = API_POOLS["ulr-api"] + API_POOLS["ulr-export"];
  const leaks: string[] = [];
  for (const [service, idle] of idleFiles) {
    const now = await countFiles(service);
    const most = idle + SPARE_FILES + Math.max(pools, JOBS_POOL);
    if (now > most) leaks.push(`${service.name} has ${now} files open, and had ${idle} at rest`);
  }
  return leaks;
}
