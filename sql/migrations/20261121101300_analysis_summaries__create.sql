create table analysis_summaries (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  run_id uuid not null,
  agent_name text not null,
  agent_type text not null,
  agent_type_source text,
  decision text not null,
  score double precision,
  decision_vocabulary text,
  system_metrics jsonb,
  category_scores jsonb,
  epistemic_assessment jsonb,
  audit_implications jsonb,
  exploration_maps jsonb,
  superseded_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint analysis_summaries_pkey primary key (project_id, id),
  constraint analysis_summaries_project_id_run_id_fkey
    foreign key (project_id, run_id) references runs (project_id, id),
  constraint analysis_summaries_agent_type_check
    check (agent_type in ('validator', 'analyst', 'explorer', 'forecaster', 'executor', 'generator', 'unknown')),
  constraint analysis_summaries_decision_check check (char_length(decision) <= 50),
  -- JSON has no NaN and no infinity
  constraint analysis_summaries_score_check check (score > '-Infinity' and score < 'Infinity')
);

create index analysis_summaries_project_id_created_at_id_idx on analysis_summaries (project_id, created_at, id);
create index analysis_summaries_project_id_run_id_idx on analysis_summaries (project_id, run_id, created_at, id);
