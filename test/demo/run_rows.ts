/** Writes the demo's runs and the output of their agents from the temporary tables of `scaffold.ts`. */

import type { Sql } from "../../sql/connection/pool.ts";
import type { DemoProjectPlan } from "./scaffold.ts";

/** Writes runs, agent snapshots, analysis summaries and analysis records. Call inside a transaction. */
export async function insertDemoRuns(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await insertRuns(tx, plan);
  await createVerdicts(tx, plan);
  await insertSnapshots(tx, plan);
  await insertSummaries(tx, plan);
  await insertRecords(tx, plan);
}

/** Writes runs. A run's counts match its occurrences, and its report lists a dozen new findings. */
async function insertRuns(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await tx`
    insert into runs (
      project_id, id, author_id, run_number, workflow_type, "timestamp", all_gates_passed, average_score,
      raw_markdown, archived_at, archive_reason, idempotency_key, payload_hash, definition_type, definition_name,
      definition_version, definition_hash, new_issues_count, recurring_issues_count, regressions_count,
      observed_count, created_at, updated_at
    )
    with counts as (
      select
        k,
        count(*) filter (where i.status <> 'observation' and k = i.first) as new,
        count(*) filter (where i.status <> 'observation' and k > i.first
          and not (i.is_regression and k = i.last)) as recurring,
        count(*) filter (where i.is_regression and k = i.last) as regressions,
        count(*) filter (where i.status = 'observation') as observed
      from demo_issues i
      cross join generate_series(i.first, i.last) k
      group by k
    ), reports as (
      select i.first as k, string_agg(
        '| ' || f.severity || ' | ' || a.name || ' | ' || replace(f.title, '%s', '\`' || i.symbol || '\`')
          || ' | ' || i.file_path || ':' || i.line_number || ' |', E'\\n' order by i.i) as lines
      from demo_issues i
      join demo_findings f on f.n = i.finding
      join demo_agents a on a.n = i.agent
      where (i.i - 1) % 100 < 12
      group by i.first
    )
    select
      ${plan.projectId}, r.id, ${plan.authorId}::uuid, r.k, r.workflow_type, r.at, score >= 70, score,
      '# ' || r.workflow_type || ', run ' || r.k || E'\\n\\n' || c.new || ' new findings, ' || c.recurring
        || ' seen before, ' || c.regressions || E' back again.\\n\\n| Severity | Agent | Finding | Where |\\n'
        || E'|---|---|---|---|\\n' || coalesce(t.lines, '') || E'\\n\\nAverage score **' || score || E'**.\\n',
      case when r.is_archived then least(${plan.now}::timestamptz, r.at + interval '120 days') end,
      case when r.is_archived then 'older than the retention of 120 days' end,
      'ci-' || left(md5(r.id::text), 20), encode(sha256(convert_to(r.id::text, 'UTF8')), 'hex'),
      'workflow', r.workflow_type, '1.' || r.k / 40 || '.' || r.k % 4, 'sha256:' || md5(r.workflow_type) || md5('demo'),
      c.new, c.recurring, c.regressions, c.observed, r.at + interval '5 seconds', r.at + interval '9 minutes'
    from demo_runs r
    join counts c on c.k = r.k
    left join reports t on t.k = r.k
    cross join lateral (select round(55 + (r.h >> 16 & 4095) / 100.0, 2)::double precision as score) s
    order by r.k`;
}

/** Creates the temporary table `demo_verdicts` with the decision of every agent in every run. */
async function createVerdicts(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await tx`
    create temporary table demo_verdicts on commit drop as
    select
      r.k, r.id as run_id, a.n, a.name, a.agent_type, a.model, a.harness, v.h,
      md5('verdict ' || ${plan.seed} || ' ' || r.k || ' ' || a.n) as m,
      score, a.decisions[case when score >= 80 then 1 when score >= 60 then 2 else 3 end] as decision,
      array_to_string(a.decisions, '|') as vocabulary,
      coalesce(c.findings, 0) as findings,
      r.at + make_interval(secs => 60 + 30 * a.n) as created_at
    from demo_runs r
    cross join demo_agents a
    left join (
      select first, agent, count(*) as findings
      from demo_issues
      group by first, agent
    ) c on c.first = r.k and c.agent = a.n
    cross join lateral (select hashint8extended(r.k * 16 + a.n, ${plan.seed} + 2000) as h) v
    cross join lateral (select round(45 + (v.h & 4095) / 75.0, 1)::double precision as score) s
    order by r.k, a.n`;
  await tx`analyze demo_verdicts`;
}

async function insertSnapshots(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await tx`
    insert into agent_snapshots (
      project_id, id, run_id, name, definition_version, score, max_score, decision, summary, model, model_raw,
      harness, input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens, cached_input_tokens,
      reasoning_output_tokens, thinking_tokens, tool_tokens, total_effective_tokens, duration_ms, agent_id,
      created_at, updated_at
    )
    select
      ${plan.projectId}, overlay(overlay(m placing '4' from 13) placing '8' from 17)::uuid, run_id, name,
      '2.' || k / 50 || '.0', score, 100, decision,
      findings || ' new findings; decided ' || decision || ' at ' || score || ' of 100.',
      model, model || '-20260901', harness, input, output, input / 8, input * 3, null, null, output / 3, input / 20,
      input + output, 20000 + (h >> 30 & 262143), name || '#' || k, created_at, created_at
    from demo_verdicts
    cross join lateral (select 8000 + (h >> 12 & 65535) as input, 900 + (h >> 28 & 8191) as output) t
    order by k, n`;
}

/** Writes the summaries. In every tenth run, one agent also has an earlier, superseded summary. */
async function insertSummaries(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await tx`
    insert into analysis_summaries (
      project_id, id, run_id, agent_name, agent_type, agent_type_source, decision, score, decision_vocabulary,
      system_metrics, category_scores, epistemic_assessment, audit_implications, exploration_maps, superseded_at,
      created_at
    )
    select
      ${plan.projectId},
      overlay(overlay(md5(v.m || s.attempt) placing '4' from 13) placing '9' from 17)::uuid,
      v.run_id, v.name, v.agent_type, 'definition', v.decision, v.score - 5 * s.attempt, v.vocabulary,
      jsonb_build_object('filesScanned', 120 + (v.h >> 10 & 255), 'linesScanned', 14000 + (v.h >> 18 & 16383),
        'findings', v.findings, 'durationMs', 20000 + (v.h >> 30 & 262143), 'toolCalls', 12 + (v.h >> 40 & 63)),
      jsonb_build_object(
        'correctness', jsonb_build_object('score', v.score, 'findings', v.findings / 2, 'weight', 0.40),
        'security', jsonb_build_object('score', 70 + (v.h >> 12 & 15) + 0.5, 'findings', v.findings / 5, 'weight', 0.25),
        'performance', jsonb_build_object('score', 60 + (v.h >> 16 & 31), 'findings', v.findings / 4, 'weight', 0.20),
        'maintainability', jsonb_build_object('score', 65 + (v.h >> 21 & 15), 'findings', v.findings / 3, 'weight', 0.15)),
      jsonb_build_object('confidence', round(0.5 + (v.h >> 8 & 255) / 520.0, 3), 'evidence', 'direct',
        'knownUnknowns', jsonb_build_array('generated code was not read', 'no production traces were available'),
        'assumptions', jsonb_build_array('the default branch is what is deployed')),
      jsonb_build_object('controls', jsonb_build_array('change-management', 'secure-development'),
        'followUpNeeded', v.score < 60, 'reviewer', null),
      case when v.agent_type = 'explorer' then jsonb_build_object(
        'modules', jsonb_build_array('billing', 'cart', 'identity', 'search'),
        'edges', jsonb_build_array(jsonb_build_array('cart', 'billing'), jsonb_build_array('cart', 'identity')),
        'entryPoints', jsonb_build_array('src/main.ts', 'src/worker.ts')) end,
      case when s.attempt = 1 then v.created_at + interval '2 seconds' end,
      v.created_at + make_interval(secs => 2 - s.attempt)
    from demo_verdicts v
    join (values (0), (1)) s (attempt) on s.attempt = 0 or (v.k % 10 = 0 and v.n = 0)
    order by v.k, v.n, s.attempt desc`;
}

/** Writes six analysis records per run, each with one to three kilobytes of evidence. */
async function insertRecords(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await tx`
    insert into analysis_records (
      project_id, id, run_id, agent_name, agent_type, record_type, record_id, title, classification, severity,
      record_data, superseded_at, created_at
    )
    select
      ${plan.projectId},
      overlay(overlay(md5(v.m || ' record ' || i.i) placing '4' from 13) placing 'b' from 17)::uuid,
      v.run_id, v.name, v.agent_type,
      (array['evidence', 'hotspot', 'risk', 'recommendation'])[1 + (i.h >> 6 & 3)],
      'R-' || v.k || '-' || i.i, left(replace(f.title, '%s', i.symbol), 500), f.category, f.severity,
      jsonb_build_object(
        'rule', f.code, 'issueId', i.id, 'symbol', i.symbol, 'explanation', f.description,
        'confidence', round(0.6 + (i.h >> 4 & 127) / 400.0, 4), 'evidence', e.items,
        'metrics', jsonb_build_object('fanIn', i.h >> 5 & 31, 'fanOut', i.h >> 7 & 15, 'churn90d', i.h >> 11 & 63),
        'suggestion', jsonb_build_object('summary', 'Change ' || i.symbol || ' and the callers listed as evidence',
          'effort', (array['S', 'M', 'L'])[1 + (i.h >> 15 & 255) % 3], 'breaking', (i.h >> 17 & 7) = 0)),
      case when v.k % 10 = 0 and v.n = 0 and i.i % 2 = 0 then v.created_at + interval '20 seconds' end,
      v.created_at + make_interval(secs => 3 + 0.02 * (i.i % 100))
    from demo_issues i
    join demo_verdicts v on v.k = i.first and v.n = i.agent
    join demo_findings f on f.n = i.finding
    cross join lateral (
      select jsonb_agg(jsonb_build_object(
        'path', i.file_path, 'line', i.line_number + 7 * g, 'column', 3 + (i.h >> g & 31),
        'excerpt', 'const result = await ' || i.symbol || '(request.body, { attempt: ' || g || ', strict: false });',
        'note', 'reached from the handler without a check',
        'blame', jsonb_build_object('commit', left(md5(i.id::text || g), 12), 'daysAgo', 3 + (i.h >> (g + 9) & 255)))
        order by g) as items
      from generate_series(1, 3 + (i.h >> 13 & 7)::integer) g
    ) e
    where (i.i - 1) % 100 < 6`;
}
