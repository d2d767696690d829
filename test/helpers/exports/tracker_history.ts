/** Generates random tracker histories: several writers with overlapping transactions that commit in any order. */
import fc from "fast-check";
import { openPool, type Pool, type Sql } from "../../../sql/connection/pool.ts";

const WRITERS = 3;

/**
 * The next action of a writer. `pick` and `other` select tables, rows and values by index, modulo the number of
 * candidates.
 */
export interface Act {
  writer: number;
  kind: (typeof ACTS)[number] | "commit" | "export";
  pick: number;
  other: number;
}

const TABLES = {
  issues: "title = title || '.'",
  runs: "workflow_type = workflow_type || '.'",
  issue_notes: "content = content || '.'",
  status_history: "reason = coalesce(reason, '') || '.'",
  occurrences: "description = coalesce(description, '') || '.'",
  agent_snapshots: "summary = coalesce(summary, '') || '.'",
  analysis_summaries: "score = coalesce(score, 0) + 1",
  analysis_records: "title = title || '.'",
} as const;
export type HistoryTable = keyof typeof TABLES;
const TABLE_NAMES = Object.keys(TABLES) as HistoryTable[];
const NEEDS_ISSUE: ReadonlySet<HistoryTable> = new Set(["issue_notes", "status_history", "occurrences"]);
const NEEDS_RUN: ReadonlySet<HistoryTable> = new Set([
  "occurrences",
  "agent_snapshots",
  "analysis_summaries",
  "analysis_records",
]);

const ACTS = [
  "insert",
  "insert",
  "update",
  "soft delete",
  "status",
  "archive",
  "supersede",
  "hard delete",
  "hard delete",
  "insert again",
  "move",
] as const;

/** Generates histories of this many actions. On average, 20% of the actions commit and 8% export. */
export function history(acts: number): fc.Arbitrary<Act[]> {
  const kind = fc.oneof(
    { weight: 18, arbitrary: fc.constantFrom(...ACTS) },
    { weight: 5, arbitrary: fc.constant("commit" as const) },
    { weight: 2, arbitrary: fc.constant("export" as const) },
  );
  const act = fc.record({ writer: fc.nat(WRITERS - 1), kind, pick: fc.nat(9999), other: fc.nat(9999) });
  return fc.array(act, { minLength: acts, maxLength: acts });
}

/** A row that a transaction wrote, with the start time of that transaction. */
export interface Touch {
  id: string;
  startedAt: string;
}

interface Transaction {
  startedAt: string;
  run(work: (tx: Sql) => Promise<readonly { id: string }[]>): Promise<void>;
  commit(): Promise<void>;
}

/** Opens the writers' connections. Projects use them one after another. */
export function openWriterPool(url: string): Pool {
  return openPool(url, { applicationName: "tracker", max: WRITERS });
}

/** Runs the overlapping transactions that write the history of one project. */
export class HistoryWriters {
  /** All rows that transactions wrote. */
  readonly touched: Touch[] = [];
  readonly #pool: Pool;
  readonly #projectId: string;
  readonly #open = new Map<number, Transaction>();
  readonly #deleted: { table: HistoryTable; row: Record<string, unknown> }[] = [];
  #lastNumber = 0;

  constructor(pool: Pool, projectId: string) {
    this.#pool = pool;
    this.#projectId = projectId;
  }

  /** Inserts three rows into every table, parents before children. */
  async seed(): Promise<void> {
    await this.#pool.begin(async (tx) => {
      for (const table of TABLE_NAMES)
        for (const other of [0, 1, 2]) await this.#insert(tx, table, { pick: other, other });
    });
  }

  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  async act({ writer, kind, pick, other }: Act): Promise<void> {
    if (kind === "export") return;
    if (kind === "commit") return this.#commit(writer);
    const transaction = this.#open.get(writer) ?? (await this.#begin(writer));
    await transaction.run((tx) => this.#write(tx, { kind, pick, other }));
  }

  async commitAll(): Promise<void> {
    for (const writer of [...this.#open.keys()]) await this.#commit(writer);
  }

  async #commit(writer: number): Promise<void> {
    await this.#open.get(writer)?.commit();
    this.#open.delete(writer);
  }

  async #begin(writer: number): Promise<Transaction> {
    const opened = Promise.withResolvers<Transaction>();
    const finished = Promise.withResolvers<void>();
    const ended = this.#pool.begin(async (tx) => {
      // A writer gives up on a locked row after 5 ms. The first setting makes Citus propagate the timeout to the node
      // that stores the row.
      await tx`set local citus.propagate_set_commands = 'local'`;
      await tx`set local lock_timeout = '5ms'`;
      const [{ startedAt }] = await tx<[{ startedAt: string }]>`select now()::timestamptz(3) as started_at`;
      opened.resolve({
        startedAt,
        run: async (work) => {
          const written = tx.savepoint((inner) => work(inner));
          // The action does nothing if a row is locked, a foreign key is violated or a key already exists.
          const rows = await Promise.resolve(written).catch(() => []);
          this.touched.push(...rows.map(({ id }) => ({ id, startedAt })));
        },
        commit: async () => {
          finished.resolve();
          await ended;
        },
      });
      await finished.promise;
    });
    ended.catch(opened.reject);
    const transaction = await opened.promise;
    this.#open.set(writer, transaction);
    return transaction;
  }

  async #write(
    tx: Sql,
    { kind, pick, other }: Pick<Act, "pick" | "other"> & { kind: (typeof ACTS)[number] },
  ): Promise<readonly { id: string }[]> {
    const table = TABLE_NAMES[pick % TABLE_NAMES.length] ?? "issues";
    const project = this.#projectId;
    switch (kind) {
      case "insert":
        return this.#insert(tx, table, { pick, other });
      case "update":
        return tx`
          update ${tx(table)} set ${tx.unsafe(TABLES[table])}
          where project_id = ${project} and id = ${await this.#nth(tx, table, other)} returning id`;
      case "soft delete":
        return tx`
          update issues set deleted_at = ${other % 3 === 0 ? null : tx`now()`}
          where project_id = ${project} and id = ${await this.#nth(tx, "issues", pick)} returning id`;
      case "status": {
        const statuses = ["open", "completed", "wontfix", "deferred", "false-positive"];
        return tx`
          update issues set status = ${statuses[other % statuses.length] ?? "open"}
          where project_id = ${project} and id = ${await this.#nth(tx, "issues", pick)} returning id`;
      }
      case "archive":
        return tx`
          update runs set archived_at = ${other % 3 === 0 ? null : tx`now()`}
          where project_id = ${project} and id = ${await this.#nth(tx, "runs", pick)} returning id`;
      case "supersede": {
        const analysis = pick % 2 === 0 ? "analysis_summaries" : "analysis_records";
        return tx`
          update ${tx(analysis)} set superseded_at = ${other % 3 === 0 ? null : tx`now()`}
          where project_id = ${project} and id = ${await this.#nth(tx, analysis, other)} returning id`;
      }
      case "hard delete":
        return this.#delete(tx, table, other);
      case "insert again":
        return this.#insertAgain(tx, pick);
      case "move":
        return tx`
          update issue_notes set issue_id = ${await this.#nth(tx, "issues", other)}
          where project_id = ${project} and id = ${await this.#nth(tx, "issue_notes", pick)} returning id`;
    }
  }

  /**
   * Returns the id of one of the project's rows in a table; null if the table has none. Selects it in a separate statement,
   * so that Citus can plan the writes.
   */
  async #nth(tx: Sql, table: string, pick: number): Promise<string | null> {
    const rows = await tx<{ id: string }[]>`
      select id from ${tx(table)} where project_id = ${this.#projectId} order by id`;
    return rows[pick % Math.max(1, rows.length)]?.id ?? null;
  }

  async #insert(
    tx: Sql,
    table: HistoryTable,
    { pick, other }: { pick: number; other: number },
  ): Promise<readonly { id: string }[]> {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const project = this.#projectId;
    const issue = NEEDS_ISSUE.has(table) ? await this.#nth(tx, "issues", other) : null;
    const run = NEEDS_RUN.has(table) ? await this.#nth(tx, "runs", Math.floor(pick / 8)) : null;
    switch (table) {
      case "issues":
        return tx<{ id: string }[]>`
          insert into issues (project_id, fingerprint, title, status, priority, first_seen_run_id, last_seen_run_id)
          values (${project}, md5(${number}::text) || md5('b'), '=issue ' || ${number}::int, 'open', 'high', gen_random_uuid(), gen_random_uuid())
          returning id`;
      case "runs":
        return tx<{ id: string }[]>`
          insert into runs (project_id, run_number, workflow_type, "timestamp")
          values (${project}, ${number}, 'review', now()) returning id`;
      case "issue_notes":
        return tx<{ id: string }[]>`
          insert into issue_notes (project_id, issue_id, content, note_type)
          values (${project}, ${issue}, 'note', 'context') returning id`;
      case "status_history":
        return tx<{ id: string }[]>`
          insert into status_history (project_id, issue_id, new_status) values (${project}, ${issue}, 'open') returning id`;
      case "occurrences":
        return tx<{ id: string }[]>`
          insert into occurrences (project_id, issue_id, run_id, agent_name)
          values (${project}, ${issue}, ${run}, 'reviewer') returning id`;
      case "agent_snapshots":
        return tx<{ id: string }[]>`
          insert into agent_snapshots (project_id, run_id, name, decision) values (${project}, ${run}, 'reviewer', 'PASS') returning id`;
      case "analysis_summaries":
        return tx<{ id: string }[]>`
          insert into analysis_summaries (project_id, run_id, agent_name, agent_type, decision)
          values (${project}, ${run}, 'reviewer', 'validator', 'PASS') returning id`;
      case "analysis_records":
        return tx<{ id: string }[]>`
          insert into analysis_records (project_id, run_id, agent_name, agent_type, record_type, record_id, title, record_data)
          values (${project}, ${run}, 'reviewer', 'validator', 'finding', ${number}::text, 'record', '{"a": 1}') returning id`;
    }
  }

  async #delete(tx: Sql, table: HistoryTable, pick: number): Promise<{ id: string }[]> {
    const project = this.#projectId;
    const id = await this.#nth(tx, table, pick);
    const [found] = await tx<{ row: Record<string, unknown> }[]>`
      select to_jsonb(t) as row from ${tx(table)} as t where project_id = ${project} and id = ${id}`;
    const rows = await tx<{ id: string }[]>`
      delete from ${tx(table)} where project_id = ${project} and id = ${id} returning id`;
    if (found && rows.length > 0) this.#deleted.push({ table, row: found.row });
    return rows;
  }

  /** Inserts a deleted row again, with its old id and the time of this transaction. */
  async #insertAgain(tx: Sql, pick: number): Promise<readonly { id: string }[]> {
    const deleted = this.#deleted[pick % Math.max(1, this.#deleted.length)];
    if (!deleted) return [];
    const { table, row } = deleted;
    const time = table === "status_history" ? "changed_at" : "created_at";
    return tx<{ id: string }[]>`
      insert into ${tx(table)}
      select (jsonb_populate_record(null::${tx(table)}, ${tx.json(row as never)} || jsonb_build_object(${time}::text, now()))).*
      returning id`;
  }
}
