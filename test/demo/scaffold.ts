/**
 * Fills the temporary tables for the demo rows of one project: runs, agents, findings and issues. Every choice is derived
 * from a hash of the row's ordinal, so the same plan gives the same rows. Ids in large tables end in the row's ordinal
 * instead of random digits, which would take up a fifth of the bundle.
 */

import type { Sql } from "../../sql/connection/pool.ts";
import { DEMO_AGENTS, DEMO_FINDINGS, DEMO_THINGS, DEMO_VERBS, DEMO_WORKFLOWS } from "./words.ts";

export interface DemoProjectPlan {
  projectId: string;
  /** The seed of every hash, different for each project. */
  seed: number;
  /** Number of issues. */
  issues: number;
  /** The user id of the rows' author. */
  authorId: string;
  /** The latest time of any row, in ISO 8601. */
  now: string;
}

const AGENTS_PER_PROJECT = 4;
const ISSUES_PER_RUN = 100;
const DAYS = 180;

/** Creates the temporary tables of one project. They are dropped when the transaction ends. */
export async function createDemoScaffold(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await createAgents(tx, plan);
  await createFindings(tx);
  await createRuns(tx, plan);
  await createIssues(tx, plan);
  // Autovacuum does not analyze temporary tables.
  await tx`analyze demo_agents, demo_findings, demo_runs, demo_issues`;
}

async function createAgents(tx: Sql, { seed }: DemoProjectPlan): Promise<void> {
  const agents = Array.from({ length: AGENTS_PER_PROJECT }, (_, n) => ({
    n,
    ...(DEMO_AGENTS[(seed + n) % DEMO_AGENTS.length] ?? {}),
  }));
  await tx`
    create temporary table demo_agents on commit drop as
    select a.n, a.name, a."agentType" as agent_type, a.model, a.harness, a.decisions
    from jsonb_to_recordset(${tx.json(agents)})
      as a(n integer, name text, "agentType" text, model text, harness text, decisions text[])`;
}

async function createFindings(tx: Sql): Promise<void> {
  const findings = DEMO_FINDINGS.map((finding, n) => ({ n, ...finding }));
  await tx`
    create temporary table demo_findings on commit drop as
    select
      f.n, f.title, f.code, f.domain, f.mode, f.category, f.type, f.severity, f.description,
      encode(sha256(convert_to(f.code, 'UTF8')), 'hex') as semantic_fingerprint
    from jsonb_to_recordset(${tx.json(findings)})
      as f(n integer, title text, code text, domain text, mode text, category text, type text, severity text,
        description text)`;
}

/** Creates runs, spread evenly over the last `DAYS` days; `k` numbers them from 1. The oldest 5 % are archived. */
async function createRuns(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  const runs = Math.max(2, Math.ceil(plan.issues / ISSUES_PER_RUN));
  await tx`
    create temporary table demo_runs on commit drop as
    select
      k, h, at,
      (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(m, 1, 3)
        || 'a' || substr(m, 4, 15))::uuid as id,
      (${DEMO_WORKFLOWS as string[]}::text[])[1 + (h >> 8 & 255) % ${DEMO_WORKFLOWS.length}] as workflow_type,
      k <= ${runs} / 20 as is_archived
    from (
      select
        k,
        hashint8extended(k, ${plan.seed}) as h,
        md5('run ' || ${plan.seed} || ' ' || k) as m,
        (${plan.now}::timestamptz - make_interval(days => ${DAYS})
          + make_interval(secs => (k - 0.8 + 0.6 * (hashint8extended(k, ${plan.seed}) & 1023) / 1024)
            * ${DAYS} * 86400.0 / ${runs}))::timestamptz(3) as at
      from generate_series(1, ${runs}::bigint) as k
    ) r`;
}

/**
 * Creates issues in the order they were found, `ISSUES_PER_RUN` per run. `first` and `last` are the first and last run that
 * saw an issue. Most old issues are closed.
 */
async function createIssues(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  await tx`
    create temporary table demo_issues on commit drop as
    with numbered as (
      select
        i, hashint8extended(i, ${plan.seed} + 1000) as h, lpad(to_hex(${plan.seed}::integer), 3, '0') || lpad(to_hex(i), 15, '0') as m,
        1 + (i - 1) / ${ISSUES_PER_RUN} as first,
        (select max(k) from demo_runs) as runs
      from generate_series(1, ${plan.issues}::bigint) as i
    ), seen as (
      select
        n.*,
        least(n.runs, n.first + (array[0, 0, 0, 0, 0, 1, 1, 2])[1 + (n.h & 7)]) as last,
        -- draw is from 0 to 99; age is the share of the period that has passed since the first run that saw the issue
        (n.h >> 3 & 65535) % 100 as draw, 1 - n.first::numeric / n.runs as age
      from numbered n
    ), judged as (
      select
        s.*,
        case
          when s.i % 25 = 7 then 'merged'
          when s.draw < 6 then 'deferred'
          when s.draw < 11 then 'wontfix'
          when s.draw < 15 then 'false-positive'
          when s.draw < 18 then 'observation'
          when s.draw < 33 + 55 * s.age and s.i % 25 <> 6 then 'completed'
          else 'open'
        end as status,
        f.at + make_interval(secs => 10 + 0.05 * ((s.i - 1) % ${ISSUES_PER_RUN})) as created_at,
        l.at as last_at
      from seen s
      join demo_runs f on f.k = s.first
      join demo_runs l on l.k = s.last
    )
    select
      j.i, j.h, j.first, j.last, j.status, j.created_at, j.last_at,
      (lpad(to_hex((extract(epoch from j.created_at) * 1000)::bigint), 12, '0') || '7' || substr(j.m, 1, 3)
        || 'b' || substr(j.m, 4, 15))::uuid as id,
      (j.h >> 20 & 255) % ${AGENTS_PER_PROJECT} as agent,
      (j.h >> 28 & 65535) % ${DEMO_FINDINGS.length} as finding,
      (${DEMO_VERBS as string[]}::text[])[1 + (j.h >> 44 & 15)] || thing[2] as symbol,
      'src/' || thing[1] || '/' || lower(regexp_replace(thing[2], '([a-z])([A-Z])', '\\1_\\2', 'g')) || '.ts'
        as file_path,
      1 + (j.h >> 30 & 511)::integer as line_number,
      -- Closed two hours to three days after it was last seen.
      case when j.status not in ('open', 'observation') then
        least(${plan.now}::timestamptz, j.last_at + make_interval(mins => 120 + (j.h >> 16 & 4095)::integer))
      end as closed_at,
      j.status = 'open' and j.last > j.first and (j.h >> 48 & 3) = 0 as is_regression,
      j.status = 'open' and j.last = j.first and (j.h >> 48 & 31) = 0 as is_undone
    from judged j
    cross join lateral (
      select string_to_array(
        (${DEMO_THINGS.map((thing) => thing.join(" "))}::text[])[1 + (j.h >> 36 & 255) % ${DEMO_THINGS.length}],
        ' ') as thing
    ) t`;
}
