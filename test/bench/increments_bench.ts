/**
 * `bun run bench increments`: the cost of change tracking for a tracker, and of an increment compared with a full
 * export.
 */
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { makeBenchProject } from "./bench_data.ts";
import { download } from "./export_bench.ts";
import { type BenchRun, measureInTurn, metered } from "./measure.ts";
import { type FigureTable, figure } from "./results.ts";
import { startOurs } from "./servers.ts";

/** The maximum ratio of the time of writes with change tracking to the time without. */
const WRITER_GOAL = { atMost: 1.15 };
/** Few runs per round and many rounds, so that other load on the machine affects both databases equally. */
const RUNS = 8;
const WRITER_ROUNDS = 5;
/** The maximum time of an increment, as a share of the full export's time. */
const INCREMENT_GOAL = { atMost: 0.05 };
/** One in `CHANGED_SHARE` issues is changed. */
const CHANGED_SHARE = 100;

export async function benchIncrements(run: BenchRun): Promise<FigureTable[]> {
  return [await benchWriter(run), await benchIncrement(run)];
}

/** Compares a full export with an export of the last hour's changes. */
async function benchIncrement(run: BenchRun): Promise<FigureTable> {
  await using db = await openTestDatabase(run.serverUrl);
  const make = createFactory(db.sql);
  const person = await make.person();
  const issues = run.sizes.issues[1];
  const project = await makeBenchProject({ db, make, person }, issues, false);
  // Backdates all changes. The benchmark has just inserted the rows, but in production most rows are old.
  await db.owner`update tracker_changes set at = at - interval '1 day'`;
  await db.sql`
    update issues set title = title || '.'
    where id in (select id from issues where project_id = ${project.id} order by id limit ${issues / CHANGED_SHARE})`;
  await db.owner`vacuum analyze`;
  await using ours = await startOurs(db.url);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const url = `${ours.url}/api/v1/export/projects/${project.id}/issues`;
  const read = await measureInTurn(run, "an increment of a hundredth", {
    rounds: run.sizes.loadRounds,
    tasks: {
      full: () => metered({}, () => download(url, { key: person.key })),
      increment: () => metered({}, () => download(`${url}?since=${since}`, { key: person.key })),
    },
  });
  const ratio = read.increment.seconds / read.full.seconds;
  return {
    title: `${issues.toLocaleString("en")} issues, one percent of them changed`,
    header: ["", "full, s", "increment, s", "increment ÷ full"],
    rows: [
      [
        "issues",
        figure(read.full.seconds, 3),
        figure(read.increment.seconds, 3),
        figure(ratio, 3, INCREMENT_GOAL),
      ],
    ],
  };
}

/** Compares writes to two databases that differ only in the triggers and indexes for increments. */
async function benchWriter(run: BenchRun): Promise<FigureTable> {
  await using tracked = await openWriterDatabase(run);
  await using plain = await openWriterDatabase(run);
  await dropTracking(plain.db);
  const read = await measureInTurn(run, "a tracker that writes runs", {
    rounds: WRITER_ROUNDS * run.sizes.loadRounds,
    tasks: { tracked: () => tracked.write(), plain: () => plain.write() },
  });
  const ratio = read.tracked.seconds / read.plain.seconds;
  const ms = (seconds: number): string => ((1000 * seconds) / RUNS).toFixed(1);
  return {
    title: "A tracker's transaction of 275 rows, with and without change tracking",
    header: ["", "with, ms", "without, ms", "with ÷ without"],
    rows: [["a run", ms(read.tracked.seconds), ms(read.plain.seconds), figure(ratio, 2, WRITER_GOAL)]],
  };
}

async function openWriterDatabase({ serverUrl, sizes }: BenchRun) {
  const db = await openTestDatabase(serverUrl);
  const make = createFactory(db.sql);
  const person = await make.person();
  const project = await makeBenchProject({ db, make, person }, sizes.projectIssues, true);
  await db.owner`vacuum analyze`;
  let number = 1000;
  return {
    db,
    async write() {
      const begun = performance.now();
      for (const end = number + RUNS; number < end; number += 1) await writeRun(db.sql, project.id, number);
      return { seconds: (performance.now() - begun) / 1000 };
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

/** Drops the triggers and indexes that only increments need. */
async function dropTracking({ owner }: TestDatabase): Promise<void> {
  const statements = await owner<{ text: string }[]>`
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) as text
    from pg_trigger
    where tgname ~ '_log_[a-z]+_trigger$'
    union all
    select format('drop index %s', indexrelid::regclass)
    from pg_index
    where indexrelid::regclass::text ~ '^tracker_changes_'`;
  for (const { text } of statements) await owner.unsafe(text);
}

const NEW_ISSUES = 20;
const SEEN_ISSUES = 100;
const RESOLVED_ISSUES = 10;

/**
 * Writes one run with new, repeated and resolved issues, their occurrences and history, and the agents' records.
 * `number` is the run's number in its project. It also selects the existing issues.
 */
export async function writeRun(sql: Pool, projectId: string, number: number): Promise<void> {
  await sql.begin(async (tx) => {
    const [run] = await tx<[{ id: string }]>`
      insert into runs (project_id, run_number, workflow_type, "timestamp", raw_markdown)
      values (${projectId}, ${number}, 'review', now(), repeat(md5('report') || E'\\n', 300))
      returning id`;
    await tx`
      with found as (
        insert into issues
          (project_id, fingerprint, title, status, priority, file_path, line_number, first_seen_run_id, last_seen_run_id)
        select ${projectId}, md5(${number} || '-' || n) || md5('run' || n), 'Result is used before it is checked, line ' || n,
          'open', 'high', 'packages/core/src/handler.ts', n, ${run.id}, ${run.id}
        from generate_series(1, ${NEW_ISSUES}::int) as n
        returning id
      ), seen as (
        update issues
        set times_seen = times_seen + 1, last_seen_run_id = ${run.id}, updated_at = now()
        where project_id = ${projectId} and fingerprint in (${fingerprints(tx, number, SEEN_ISSUES)})
        returning id
      )
      insert into occurrences (project_id, issue_id, run_id, agent_name, description, file_path, line_number)
      select ${projectId}, id, ${run.id}, 'reviewer', 'Seen again: ' || repeat('the result is used. ', 10), 'src/handler.ts', 7
      from (select id from found union all select id from seen) as issues`;
    await tx`
      with resolved as (
        update issues
        set status = case status when 'open' then 'completed' else 'open' end, updated_at = now()
        where project_id = ${projectId} and fingerprint in (${fingerprints(tx, number + 7, RESOLVED_ISSUES)})
        returning id, status
      )
      insert into status_history (project_id, issue_id, new_status, reason, run_id)
      select ${projectId}, id, status, 'Not found any more', ${run.id}
      from resolved`;
    await tx`
      insert into agent_snapshots (project_id, run_id, name, decision, score)
      select ${projectId}, ${run.id}, 'agent-' || n, 'PASS', 90 from generate_series(1, 5) as n`;
    await tx`
      insert into analysis_records (project_id, run_id, agent_name, agent_type, record_type, record_id, title, record_data)
      select ${projectId}, ${run.id}, 'reviewer', 'validator', 'rule-group', 'rule-' || n, 'Group ' || n,
        (select jsonb_agg(jsonb_build_object('path', md5(f::text), 'findings', f)) from generate_series(1, 40) as f)
      from generate_series(1, 10) as n`;
  });
}

/** Selects fingerprints of issues from `makeBenchProject`, spread over the project. */
function fingerprints(tx: Sql, number: number, count: number) {
  return tx`
    select md5(n::text) || md5(n::text || 'a')
    from (select 1 + (${number}::int * 7919 + k * 613) % 2000 as n from generate_series(1, ${count}::int) as k) as chosen`;
}
