/** Writes the rows of one tracker run. */
import type { Pool } from "../../sql/connection/pool.ts";
import type { Identified } from "../helpers/postgres/factory.ts";

/**
 * Writes a run and `issues` issues, each with an occurrence and a status change. Every tenth issue also gets a note.
 */
export async function writeTrackerRows(sql: Pool, project: Identified, issues: number): Promise<void> {
  const runId = crypto.randomUUID();
  await sql.begin(async (tx) => {
    await tx`
      insert into runs (project_id, id, run_number, workflow_type, "timestamp", raw_markdown)
      values (
        ${project.id}, ${runId}, ${1 + Math.floor(Math.random() * 2e9)}, 'review', now(),
        repeat(md5(${runId}) || E'\n', 300)
      )`;
    await tx`
      with made as (
        insert into issues (
          project_id, fingerprint, title, status, priority, severity, file_path, line_number,
          first_seen_run_id, last_seen_run_id
        )
        select ${project.id}, md5(${runId} || n) || md5(n::text), 'Result "' || md5(n::text) || '" is not checked, ' || n,
          'open', 'high', 'medium', 'packages/core/src/' || md5((n % 70)::text) || '/handler.ts', n, ${runId}, ${runId}
        from generate_series(1, ${issues}::int) as n
        returning project_id, id, title, line_number
      ), occurred as (
        insert into occurrences (project_id, issue_id, run_id, agent_name, description)
        select project_id, id, ${runId}, 'reviewer', 'Seen: ' || title from made
      ), changed as (
        insert into status_history (project_id, issue_id, old_status, new_status, reason)
        select project_id, id, null, 'open', E'Found, "again",\r\nby a reviewer' from made
      )
      insert into issue_notes (project_id, issue_id, content, note_type)
      select project_id, id, 'A note on ' || title, 'context' from made where line_number % 10 = 0`;
  });
}
