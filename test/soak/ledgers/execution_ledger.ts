/** Executions that clients recorded: each acknowledged one counts once, each other one at most once. */
import type { Pool } from "../../../sql/connection/pool.ts";

/** Identifies a record by its unique source, or by its run. */
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
  mark: string;
  count: number;
}

export class ExecutionLedger {
  /** By definition and mark. */
  readonly #lines = new Map<string, Map<string, Known>>();
  #lastMark = 0;

  /** A mark that no other record has, used as `source` or `runId`. */
  nextMark(): string {
    this.#lastMark += 1;
    return `soak-${this.#lastMark}`;
  }

  /** Before it is sent. */
  begin(name: string, mark: string): void {
    const line = this.#lines.get(name) ?? new Map<string, Known>();
    if (!line.has(mark)) line.set(mark, { isAcknowledged: false });
    this.#lines.set(name, line);
  }

  /** A response said that it is recorded, now or before. */
  acknowledge(name: string, mark: string): void {
    this.#lines.get(name)?.set(mark, { isAcknowledged: true });
  }

  /** Records of a line that are known to exist. */
  countAcknowledged(name: string): number {
    const line = this.#lines.get(name)?.values() ?? [];
    return [...line].filter(({ isAcknowledged }) => isAcknowledged).length;
  }

  /** Returns the contradictions of the database. */
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
