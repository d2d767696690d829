/**
 * Records the executions that clients sent. The database must contain an acknowledged execution once, and any other at most once.
 */
import type { Pool } from "../../../sql/connection/pool.ts";

/** An execution that a client has sent. */
interface Known {
  isAcknowledged: boolean;
}

interface LineRow {
  name: string;
  executionCount: number;
  uniqueExecutionCount: number;
  records: number;
  callers: number;
}

interface RecordRow {
  name: string;
  /** The unique `source` or `runId` of the execution. */
  mark: string;
  count: number;
}

export class ExecutionLedger {
  /** Executions by definition name and mark. */
  readonly #lines = new Map<string, Map<string, Known>>();
  #lastMark = 0;

  /** Returns a unique mark for an execution, to use as its `source` or `runId`. */
  nextMark(): string {
    this.#lastMark += 1;
    return `soak-${this.#lastMark}`;
  }

  /** Records an execution before it is sent. */
  begin(name: string, mark: string): void {
    const line = this.#lines.get(name) ?? new Map<string, Known>();
    if (!line.has(mark)) line.set(mark, { isAcknowledged: false });
    this.#lines.set(name, line);
  }

  /** Marks an execution as stored, after a response that reports it as new or as a duplicate. */
  acknowledge(name: string, mark: string): void {
    this.#lines.get(name)?.set(mark, { isAcknowledged: true });
  }

  /** Counts the acknowledged executions of a definition. */
  countAcknowledged(name: string): number {
    const line = this.#lines.get(name)?.values() ?? [];
    return [...line].filter(({ isAcknowledged }) => isAcknowledged).length;
  }

  /** Returns the differences between the ledger and the database. */
  async listTroubles(sql: Pool): Promise<string[]> {
    const records = await sql<RecordRow[]>`
      select l.name, coalesce(e.run_id, e.source) as mark, count(*)::int as count
      from definition_executions as e
      join definition_lines as l on l.id = e.line_id
      group by l.name, mark`;
    const lines = await sql<LineRow[]>`
      select l.name, l.execution_count, l.unique_execution_count, count(e.id)::int as records,
        count(distinct e.recorded_by)::int as callers
      from definition_lines as l
      left join definition_executions as e on e.line_id = l.id
      group by l.id`;
    return [...this.#compareRecords(records), ...lines.flatMap(compareCounters)];
  }

  #compareRecords(records: readonly RecordRow[]): string[] {
    const found = new Set(records.map(({ name, mark }) => `${name} ${mark}`));
    const doubled = records.filter(({ count }) => count > 1);
    const unknown = records.filter(({ name, mark }) => !this.#lines.get(name)?.has(mark));
    const lost = [...this.#lines].flatMap(([name, marks]) =>
      [...marks]
        .filter(([mark, known]) => known.isAcknowledged && !found.has(`${name} ${mark}`))
        .map(([mark]) => `${name}: the acknowledged record ${mark} is lost`),
    );
    return [
      ...lost,
      ...doubled.map(({ name, mark, count }) => `${name}: ${mark} is there ${count} times`),
      ...unknown.map(({ name, mark }) => `${name}: nobody has sent ${mark}`),
    ];
  }
}

function compareCounters(line: LineRow): string[] {
  const { name, executionCount, uniqueExecutionCount, records, callers } = line;
  return [
    ...(executionCount === records ? [] : [`${name}: counts ${executionCount} of ${records} records`]),
    ...(uniqueExecutionCount === callers
      ? []
      : [`${name}: counts ${uniqueExecutionCount} of ${callers} callers`]),
  ];
}
