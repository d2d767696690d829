/** Tables `definition_executions` and `definition_execution_callers`: recorded executions, and the users who recorded them. */

import { type AuditEntry, auditInsert } from "../accounts/audit_log.ts";
import { firstValue, type Sql, tableRows } from "../connection/pool.ts";
import { type DefinitionViewer, isVisible } from "./visibility.ts";

export interface NewExecution {
  id: string;
  definitionId: string;
  /** Run id from the client; null if the client sent none. A record without a run id is never a duplicate. */
  runId: string | null;
  source: string;
  recordedBy: string;
  /** Time of the execution. Null means the current time. */
  recordedAt: string | null;
}

export interface NewExecutions {
  lineId: string;
  executions: readonly NewExecution[];
  /** Audit log entries to add if any execution is new. */
  auditEntries: readonly AuditEntry[];
}

/**
 * Adds executions to a line, and counts them and their callers. Runs that the line already has are skipped. Returns the line's new
 * execution count, or null if no execution was new.
 *
 * The only statement is sent synchronously. If the caller calls `sendCommit` before awaiting the result, the line is not locked
 * during a further round trip. Every writer takes its locks in the same order: runs, callers, the line, then the hourly counts,
 * which triggers update. Writers therefore cannot deadlock.
 */
export async function insertExecutions(
  tx: Sql,
  { lineId, executions, auditEntries }: NewExecutions,
): Promise<number | null> {
  const counts = tx<{ executionCount: number }[]>`
    with added as (
      insert into definition_executions (id, line_id, definition_id, run_id, source, recorded_by, recorded_at)
      select e.id, ${lineId}, e.definition_id, e.run_id, e.source, e.recorded_by, coalesce(e.recorded_at, now())
      from ${tableRows(tx, "definition_executions", executions)} as e
      order by e.run_id
      on conflict on constraint definition_executions_line_id_run_id_key do nothing
      returning recorded_by
    ), new_callers as (
      insert into definition_execution_callers (line_id, user_id)
      select distinct ${lineId}::uuid, recorded_by
      from added
      order by recorded_by
      on conflict on constraint definition_execution_callers_pkey do nothing
      returning user_id
    ), audited as (
      ${auditInsert(tx, auditEntries)}
      where exists (select from added)
    )
    update definition_lines
    set execution_count = execution_count + (select count(*) from added),
      unique_execution_count = unique_execution_count + (select count(*) from new_callers)
    where id = ${lineId} and exists (select from added)
    returning execution_count`;
  return firstValue(counts.execute());
}

export const TIME_BUCKETS = ["hour", "day"] as const;
export type TimeBucket = (typeof TIME_BUCKETS)[number];

export interface ExecutionWindow {
  lineId: string;
  minutes: number;
  viewer: DefinitionViewer;
  /** Bucket size of the breakdown by time. A breakdown that is not requested is empty in the result. */
  byTime: TimeBucket | null;
  bySource: boolean;
  byVersion: boolean;
}

/** Execution counts, largest first in each breakdown. Time buckets without executions are omitted. */
export interface ExecutionCounts {
  /** End of the window: the current time. */
  until: string;
  total: number;
  byTime: { time: string; count: number }[];
  bySource: { source: string; count: number }[];
  /** Counts of the versions that the viewer can see. */
  byVersion: { version: string; count: number }[];
}

interface CountRow {
  until: string;
  time: string | null;
  source: string | null;
  version: string | null;
  isTotal: boolean;
  count: number;
}

/**
 * Counts the executions of a line in the last `minutes`. The hour in which the window begins is counted from its records. All later
 * hours are read from the hourly counts.
 */
export async function countExecutions(sql: Sql, window: ExecutionWindow): Promise<ExecutionCounts> {
  const { lineId, minutes, byTime, bySource, byVersion } = window;
  const since = sql`now() - make_interval(mins => ${minutes})`;
  const firstWholeHour = sql`date_trunc('hour', ${since}, 'UTC') + interval '1 hour'`;
  // The column of an unrequested breakdown is null in every row. Its grouping set adds one group, which is dropped below.
  const rows = await sql<CountRow[]>`
    with recorded as (
      select hour as recorded_at, source, definition_id, count
      from definition_execution_hours
      where line_id = ${lineId} and hour >= ${firstWholeHour}
      union all
      select recorded_at, source, definition_id, 1
      from definition_executions
      where line_id = ${lineId} and recorded_at > ${since} and recorded_at < ${firstWholeHour}
    ), counted as (
      select
        e.time, e.source, e.definition_id, coalesce(sum(e.count), 0)::bigint as count,
        grouping(e.time) + grouping(e.source) + grouping(e.definition_id) = 3 as is_total
      from (
        select
          ${byTime ? sql`date_trunc(${byTime}, recorded_at, 'UTC')` : sql`null::timestamptz`} as time,
          ${bySource ? sql`source` : sql`null::text`} as source,
          ${byVersion ? sql`definition_id` : sql`null::uuid`} as definition_id,
          count
        from recorded
      ) as e
      group by grouping sets ((), (e.time), (e.source), (e.definition_id))
    )
    select now() as until, c.time, c.source, d.version, c.is_total, c.count
    from counted as c
    left join definitions as d on d.id = c.definition_id and ${isVisible(window.viewer)}
    order by c.count desc, c.source, d.version_major desc, d.version_minor desc, d.version_patch desc`;
  const all = rows.find(({ isTotal }) => isTotal);
  if (!all) throw new Error("Cannot count executions: the grouping of all rows is missing");
  return {
    until: all.until,
    total: all.count,
    byTime: rows.flatMap(({ time, count }) => (time === null ? [] : [{ time, count }])),
    bySource: rows.flatMap(({ source, count }) => (source === null ? [] : [{ source, count }])),
    byVersion: rows.flatMap(({ version, count }) => (version === null ? [] : [{ version, count }])),
  };
}
