/** What a tracker does to a project for every run of its agents, in one transaction, as it is written in production. */
import type { Pool, Sql } from "../../sql/connection/pool.ts";

const NEW_ISSUES = 20;
const SEEN_ISSUES = 100;
const RESOLVED_ISSUES = 10;

/**
 * Writes one run: new issues, known ones that are seen again, some that are resolved, with occurrences and history, and what
 * the agents said. `number` numbers the runs of the project; choose the known issues by it.
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

/** Fingerprints of issues that `makeBenchProject` has made, spread over the project. */
function fingerprints(tx: Sql, number: number, count: number) {
  return tx`
    select md5(n::text) || md5(n::text || 'a')
    from (select 1 + (${number}::int * 7919 + k * 613) % 2000 as n from generate_series(1, ${count}::int) as k) as chosen`;
}
