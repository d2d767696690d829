create table occurrences (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  issue_id uuid not null,
  run_id uuid not null,
  agent_name text not null,
  description text,
  file_path text,
  line_number integer,
  classification_confidence text,
  classified_by text,
  correlation_status text,
  convergence_cluster_id text,
  created_at timestamptz(3) not null default now(),
  constraint occurrences_pkey primary key (project_id, id),
  constraint occurrences_project_id_issue_id_fkey
    foreign key (project_id, issue_id) references issues (project_id, id),
  constraint occurrences_project_id_run_id_fkey foreign key (project_id, run_id) references runs (project_id, id),
  constraint occurrences_agent_name_check check (char_length(agent_name) <= 100),
  constraint occurrences_description_check check (char_length(description) <= 10000),
  constraint occurrences_classification_confidence_check
    check (classification_confidence in ('high', 'medium', 'low')),
  constraint occurrences_classified_by_check check (classified_by in ('agent', 'classifier', 'human')),
  constraint occurrences_correlation_status_check
    check (correlation_status in ('new', 'recurring', 'regression', 'observed')),
  constraint occurrences_convergence_cluster_id_check check (char_length(convergence_cluster_id) <= 64)
);

create index occurrences_project_id_created_at_id_idx on occurrences (project_id, created_at, id);
create index occurrences_project_id_issue_id_idx on occurrences (project_id, issue_id, created_at, id);
create index occurrences_project_id_run_id_idx on occurrences (project_id, run_id, created_at, id);
