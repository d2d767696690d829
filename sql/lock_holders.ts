/** Finds the sessions that block a waiting one. */
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "./connection/pool.ts";

const CHECK_INTERVAL_MS = 250;

export interface LockWatch extends AsyncDisposable {
  /** Describes the sessions that were last seen blocking; empty if there were none. */
  readonly holders: string;
}

interface HolderRow {
  pid: number;
  role: string | null;
  applicationName: string | null;
  state: string | null;
  seconds: number | null;
}

/**
 * Watches, on another connection than that of `pid`, which sessions block it: after the wait, the server no longer knows.
 * Dispose it to stop.
 */
export function watchLockHolders(sql: Sql, pid: number): LockWatch {
  const stopped = new AbortController();
  let holders = "";
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      const rows = await listHolders(sql, pid).catch(() => []);
      if (rows.length > 0) holders = rows.map(describeHolder).join(" and ");
      await delay(CHECK_INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();
  return {
    get holders() {
      return holders;
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await watching;
    },
  };
}

async function listHolders(sql: Sql, pid: number): Promise<HolderRow[]> {
  return sql<HolderRow[]>`
    select distinct
      b.pid, a.usename as role, a.application_name, a.state,
      extract(epoch from clock_timestamp() - a.xact_start)::int as seconds
    from unnest(pg_blocking_pids(${pid})) as b (pid)
    left join pg_stat_activity as a on a.pid = b.pid
    order by b.pid`;
}

function describeHolder({ pid, role, applicationName, state, seconds }: HolderRow): string {
  // A transaction that was prepared for two-phase commit has no process.
  if (pid === 0) return "a prepared transaction (see pg_prepared_xacts)";
  const facts = [
    applicationName && `"${applicationName}"`,
    role && `role "${role}"`,
    state && (seconds === null ? state : `${state}, ${seconds} s into its transaction`),
  ].filter(Boolean);
  return `process ${pid}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`;
}
