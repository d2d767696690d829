/** Projects of given sizes in a database of their own. */

import type { Sql } from "../../sql/connection/pool.ts";
import type { TestDatabase } from "../helpers/postgres/database.ts";
import type { Factory, Person, ProjectRow } from "../helpers/postgres/factory.ts";

/** Rows of all eight datasets for an issue. */
export const ROWS_AN_ISSUE = 2.3;

/** About 1 KB of JSON a row, as real issues have. */
async function insertIssues(sql: Sql, projectId: string, count: number): Promise<void> {
  await sql`
    insert into issues (
      project_id, fingerprint, semantic_fingerprint, title, status, priority, severity, failure_code, failure_domain,
      failure_severity_code, category, agent, type, file_path, line_number, times_seen, first_seen_run_id,
      last_seen_run_id, deleted_at, created_at, updated_at
    )
    select
      ${projectId},
      md5(n::text) || md5(n::text || 'a'),
      md5((n % 5000)::text) || md5((n % 5000)::text || 'b'),
      'Result of "' || md5(n::text) || '" is used before it is checked — line ' || n % 900,
      case when n % 3 = 0 then 'completed' else 'open' end,
      case when n % 7 = 0 then 'critical' else 'suggested' end,
      'medium', 'lint/correctness/noUnchecked', 'SEM', 'M', 'correctness', 'agent-' || n % 9, 'bug',
      'packages/core/src/' || md5((n % 700)::text) || '/handler.ts', n % 900, 1 + n % 20,
      md5('run' || n % 50)::uuid, md5('run' || n % 30)::uuid,
      case when n % 50 = 0 then now() end,
      timestamptz '2026-01-01' + n * interval '7 seconds', now()
    from generate_series(1, ${count}::int) as n
    order by n`;
}

/** Rows of the other seven datasets, so many of each kind that a bundle of `issues` issues is of everyday shape. */
async function insertChildren(sql: Sql, projectId: string, issues: number): Promise<void> {
  const runs = Math.max(1, Math.floor(issues / 500));
  await sql`
    insert into runs (project_id, run_number, workflow_type, "timestamp", raw_markdown, created_at)
    select ${projectId}, n, 'review', now(), repeat(md5(n::text) || E'\\n', 300),
      timestamptz '2026-01-01' + n * interval '1 minute'
    from generate_series(1, ${runs}::int) as n`;
  await sql`
    insert into occurrences (project_id, issue_id, run_id, agent_name, description, file_path, line_number, created_at)
    select i.project_id, i.id, r.id, 'reviewer', 'Seen again: ' || i.title, i.file_path, i.line_number, i.created_at
    from issues as i
    join runs as r on r.project_id = i.project_id and r.run_number = 1 + i.line_number % ${runs}::int
    where i.project_id = ${projectId}`;
  await sql`
    insert into status_history (project_id, issue_id, old_status, new_status, reason, changed_at)
    select project_id, id, 'open', 'completed', 'Not found any more', created_at
    from issues
    where project_id = ${projectId} and status = 'completed'`;
  await sql`
    insert into analysis_records
      (project_id, run_id, agent_name, agent_type, record_type, record_id, title, record_data, created_at)
    select r.project_id, r.id, 'reviewer', 'validator', 'rule-group', 'rule-' || n, 'Group ' || n,
      jsonb_build_object('files', (
        select jsonb_agg(jsonb_build_object('path', md5(f::text), 'findings', f)) from generate_series(1, 40) as f
      )), r.created_at
    from runs as r, generate_series(1, 10) as n
    where r.project_id = ${projectId}`;
}

/** Inserts `issues` issues and everything that hangs on them, from 2026-01-01 on. */
export async function fillProject(sql: Sql, projectId: string, issues: number): Promise<void> {
  await insertIssues(sql, projectId, issues);
  await insertChildren(sql, projectId, issues);
}

/** Makes a project with `issues` issues and, if asked, everything that hangs on them. */
export async function makeBenchProject(
  given: { db: TestDatabase; make: Factory; person: Person },
  issues: number,
  withChildren: boolean,
): Promise<ProjectRow> {
  const { db, make, person } = given;
  const project = await make.project({ orgId: person.org.id, ownerId: person.user.id });
  await insertIssues(db.sql, project.id, issues);
  if (withChildren) await insertChildren(db.sql, project.id, issues);
  return project;
}
