-- Every execution that was recorded; the counters of the line tell how many there are.
create table definition_executions (
  id uuid primary key default gen_random_uuid(),
  line_id uuid not null,
  definition_id uuid not null,
  -- what makes a record idempotent; null when the client gave none
  run_id text,
  -- where it ran, such as sdk, cli, api
  source text not null,
  recorded_by uuid not null,
  recorded_at timestamptz(3) not null default now(),
  constraint definition_executions_line_id_run_id_key unique (line_id, run_id),
  constraint definition_executions_line_id_fkey foreign key (line_id)
    references definition_lines (id) on delete cascade,
  constraint definition_executions_definition_id_fkey foreign key (definition_id)
    references definitions (id) on delete cascade,
  constraint definition_executions_recorded_by_fkey foreign key (recorded_by) references users (id)
);

create index definition_executions_line_id_recorded_at_idx on definition_executions (line_id, recorded_at);
create index definition_executions_line_id_recorded_by_idx on definition_executions (line_id, recorded_by);
create index definition_executions_definition_id_idx on definition_executions (definition_id);
create index definition_executions_recorded_by_idx on definition_executions (recorded_by);
