/** Writes the demo's issues and their children from the temporary tables of `scaffold.ts`. */

import type { Sql } from "../../sql/connection/pool.ts";
import type { DemoProjectPlan } from "./scaffold.ts";
import { DEMO_NOTES } from "./words.ts";

/** Writes issues, occurrences, status history and notes. The runs must exist. Call inside a transaction. */
export async function insertDemoIssues(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await insertIssues(tx, plan);
  await insertOccurrences(tx, plan);
  await insertStatusHistory(tx, plan);
  await insertNotes(tx, plan);
}

async function insertIssues(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await tx`
    insert into issues (
      project_id, id, fingerprint, semantic_fingerprint, author_id, title, status, priority, severity,
      failure_code, failure_domain, failure_mode, failure_severity_code, category, agent, type, file_path,
      line_number, times_seen, first_seen_run_id, last_seen_run_id, resolved_at, merged_into_issue_id, deleted_at,
      created_at, updated_at
    )
    select
      ${plan.projectId}, i.id,
      encode(sha256(convert_to('demo ' || ${plan.seed} || ' ' || i.i, 'UTF8')), 'hex'), f.semantic_fingerprint,
      case when (i.h >> 9 & 7) = 0 then ${plan.authorId}::uuid end,
      replace(f.title, '%s', '\`' || i.symbol || '\`'), i.status,
      case f.severity
        when 'critical' then 'critical' when 'high' then 'high' when 'medium' then 'suggested' else 'backlog' end,
      f.severity, f.code, f.domain, f.mode, upper(left(f.severity, 1)), f.category, a.name, f.type, i.file_path,
      i.line_number, 1 + i.last - i.first, r1.id, r2.id,
      case when i.status in ('completed', 'wontfix', 'false-positive') then i.closed_at end,
      case when i.status = 'merged' then target.id end,
      case
        when i.status in ('completed', 'false-positive') and f.severity in ('low', 'info') and (i.h >> 24 & 7) = 0
        then least(${plan.now}::timestamptz, i.closed_at + interval '14 days')
      end,
      i.created_at, coalesce(i.closed_at, i.last_at + interval '10 minutes')
    from demo_issues i
    join demo_findings f on f.n = i.finding
    join demo_agents a on a.n = i.agent
    join demo_runs r1 on r1.k = i.first
    join demo_runs r2 on r2.k = i.last
    left join demo_issues target on target.i = i.i - 1 and target.i % 25 = 6 and i.status = 'merged'`;
}

/** Writes an occurrence for every run that saw an issue. */
async function insertOccurrences(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await tx`
    insert into occurrences (
      project_id, id, issue_id, run_id, agent_name, description, file_path, line_number,
      classification_confidence, classified_by, correlation_status, convergence_cluster_id, created_at
    )
    select
      ${plan.projectId},
      (lpad(to_hex((extract(epoch from o.created_at) * 1000)::bigint), 12, '0') || '7' || substr(o.m, 1, 3)
        || '8' || substr(o.m, 4, 15))::uuid,
      i.id, r.id, a.name, f.description, i.file_path, i.line_number + 3 * (r.k - i.first)::integer,
      (array['high', 'high', 'medium', 'low'])[1 + (i.h >> 12 & 3)],
      (array['agent', 'agent', 'classifier', 'human'])[1 + (i.h >> 14 & 3)],
      case
        when i.status = 'observation' then 'observed'
        when r.k = i.first then 'new'
        when r.k = i.last and i.is_regression then 'regression'
        else 'recurring'
      end,
      -- Merged issues were found in the same place by two agents of one run.
      case when r.k = i.first and i.i % 25 in (6, 7)
        then left(md5('cluster ' || ${plan.seed} || ' ' || i.i / 25), 16) end,
      o.created_at
    from demo_issues i
    join demo_agents a on a.n = i.agent
    join demo_findings f on f.n = i.finding
    cross join generate_series(i.first, i.last) seen (k)
    join demo_runs r on r.k = seen.k
    cross join lateral (
      select
        case when r.k = i.first then i.created_at else r.at + make_interval(secs => 10 + 0.05 * (i.i % 100)) end
          as created_at,
        lpad(to_hex(${plan.seed}::integer), 3, '0') || lpad(to_hex(i.i * 8 + r.k - i.first), 15, '0') as m
    ) o`;
}

/**
 * Writes status histories that end in the current status. A closed issue was open before, and an observation starts as
 * an observation. A regression was completed and reopened by a run. An undone change closed the wrong issue.
 */
async function insertStatusHistory(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await tx`
    with changes as (
      select
        i.id as issue_id, i.i, i.h, c.step, c.old_status, c.new_status, c.reason, c.changed_at::timestamptz(3),
        c.transition_type, c.run_id, c.source
      from demo_issues i
      join demo_runs r1 on r1.k = i.first
      join demo_runs r2 on r2.k = i.last
      left join demo_runs before on before.k = i.last - 1
      cross join lateral (
        select 1 as step, null as old_status, 'observation' as new_status,
          'recorded as a fact, not as a defect' as reason, i.created_at as changed_at, 'change' as transition_type,
          r1.id as run_id, 'run' as source
        where i.status = 'observation'
        union all
        select 1, 'open', i.status,
          case i.status
            when 'completed' then 'not found by the runs after the fix'
            when 'deferred' then 'not before the next release'
            when 'wontfix' then 'the module is about to be removed'
            when 'merged' then 'same place, same cause'
            else 'the value is checked by the caller'
          end,
          i.closed_at, 'change', null, case when i.status = 'completed' then 'run' else 'user' end
        where i.closed_at is not null
        union all
        select 1, 'open', 'completed', 'not found by the run', before.at + (r2.at - before.at) / 2, 'change', null, 'run'
        where i.is_regression
        union all
        select 2, 'completed', 'open', 'found again', r2.at + interval '1 minute', 'change', r2.id, 'run'
        where i.is_regression
        union all
        select 1, 'open', 'completed', null, i.created_at + interval '3 minutes', 'change', null, 'user'
        where i.is_undone
        union all
        select 2, 'completed', 'open', 'wrong issue', i.created_at + interval '8 minutes', 'undo', null, 'user'
        where i.is_undone
      ) c
    )
    insert into status_history (
      project_id, id, issue_id, old_status, new_status, reason, changed_at, transition_type, reverted_change_id,
      run_id, source
    )
    select
      ${plan.projectId}, ${changeId(tx, plan, tx`step`)}, issue_id, old_status, new_status, reason, changed_at,
      transition_type, case when transition_type = 'undo' then ${changeId(tx, plan, tx`step - 1`)} end, run_id, source
    from changes
    order by changed_at, i, step`;
}

/**
 * Returns SQL for the id of a step in an issue's history. It depends only on the project, the issue and the step, so
 * other rows can refer to the step.
 */
function changeId(tx: Sql, { seed }: DemoProjectPlan, step: ReturnType<Sql>) {
  const m = tx`lpad(to_hex(${seed}::integer), 8, '0') || lpad(to_hex(i * 8 + ${step}), 24, '0')`;
  return tx`overlay(overlay(${m} placing '4' from 13) placing 'a' from 17)::uuid`;
}

async function insertNotes(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  const { context, blocker, resolution } = DEMO_NOTES;
  await tx`
    insert into issue_notes (project_id, id, issue_id, content, note_type, created_by, created_at)
    select
      ${plan.projectId},
      (lpad(to_hex((extract(epoch from n.created_at) * 1000)::bigint), 12, '0') || '7' || substr(n.m, 1, 3)
        || '9' || substr(n.m, 4, 15))::uuid,
      i.id,
      case n.note_type
        when 'resolution' then (${resolution as string[]}::text[])[1 + (i.h >> 40 & 255) % ${resolution.length}]
        when 'blocker' then (${blocker as string[]}::text[])[1 + (i.h >> 40 & 255) % ${blocker.length}]
        else (${context as string[]}::text[])[1 + (i.h >> 40 & 255) % ${context.length}]
      end,
      n.note_type,
      (array['demo-owner', 'demo-admin', 'demo-publisher', 'code-reviewer'])[1 + (i.h >> 50 & 3)],
      n.created_at
    from demo_issues i
    cross join lateral (
      select
        case
          when i.status in ('completed', 'wontfix', 'false-positive') then 'resolution'
          when i.status = 'deferred' then 'blocker'
          else 'context'
        end as note_type,
        coalesce(i.closed_at, i.created_at + interval '9 minutes') as created_at,
        lpad(to_hex(${plan.seed}::integer), 3, '0') || lpad(to_hex(i.i), 15, '0') as m
    ) n
    where (i.h >> 52 & 7) = 0`;
}
