create table analysis_records (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  run_id uuid not null,
  agent_name text not null,
  agent_type text not null,
  record_type text not null,
  record_id text not null,
  title text not null,
  classification text,
  severity text,
  record_data jsonb not null,
  superseded_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint analysis_records_pkey primary key (project_id, id),
  constraint analysis_records_project_id_run_id_fkey
    foreign key (project_id, run_id) references runs (project_id, id),
  constraint analysis_records_agent_type_check
    check (agent_type in ('validator', 'analyst', 'explorer', 'forecaster', 'executor', 'generator', 'unknown')),
  constraint analysis_records_record_type_check check (char_length(record_type) <= 50),
  constraint analysis_records_record_id_check check (char_length(record_id) <= 100),
  constraint analysis_records_title_check check (char_length(title) <= 500),
  constraint analysis_records_classification_check check (char_length(classification) <= 50)
);

create index analysis_records_project_id_created_at_id_idx on analysis_records (project_id, created_at, id);
create index analysis_records_project_id_run_id_idx on analysis_records (project_id, run_id, created_at, id);
