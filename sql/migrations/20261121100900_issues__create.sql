create table issues (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  fingerprint text not null,
  semantic_fingerprint text,
  author_id uuid,
  title text not null,
  status text not null,
  priority text not null,
  severity text,
  failure_code text,
  failure_domain text,
  failure_mode text,
  failure_severity_code text,
  category text,
  agent text,
  type text,
  file_path text,
  line_number integer,
  times_seen integer not null default 1,
  first_seen_run_id uuid not null,
  last_seen_run_id uuid not null,
  resolved_at timestamptz(3),
  merged_into_issue_id uuid,
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint issues_pkey primary key (project_id, id),
  -- deleted rows included: a finding that comes back finds its old row
  constraint issues_project_id_fingerprint_key unique (project_id, fingerprint),
  constraint issues_project_id_fkey foreign key (project_id) references projects (id),
  constraint issues_fingerprint_check check (fingerprint ~ '^[0-9a-f]{64}$'),
  constraint issues_title_check check (char_length(title) <= 500),
  constraint issues_status_check
    check (status in ('open', 'completed', 'deferred', 'wontfix', 'merged', 'false-positive', 'observation')),
  constraint issues_priority_check check (priority in ('critical', 'high', 'suggested', 'backlog')),
  constraint issues_severity_check check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  constraint issues_failure_domain_check check (failure_domain in ('STR', 'SEM', 'PRA', 'EPI')),
  constraint issues_failure_severity_code_check check (failure_severity_code in ('C', 'H', 'M', 'L', 'I')),
  constraint issues_category_check check (char_length(category) <= 100),
  constraint issues_agent_check check (char_length(agent) <= 100),
  constraint issues_type_check check (char_length(type) <= 50),
  constraint issues_file_path_check check (char_length(file_path) <= 1000),
  constraint issues_times_seen_check check (times_seen >= 1)
);

-- With deleted_at, an export's rows can be counted from the index alone: 25 ms instead of 70 for 200,000.
create index issues_project_id_created_at_id_idx on issues (project_id, created_at, id) include (deleted_at);
-- Deleted issues are few and every child dataset has to leave out what hangs under them.
create index issues_deleted_idx on issues (project_id, id) where deleted_at is not null;
