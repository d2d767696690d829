-- Every execution that was recorded; the counters of the line tell how many there are.
create table definition_executions (
  id uuid primary key default gen_random_uuid(),
  line_id uuid not null,
  -- null when it was a draft, which is deleted since
  definition_id uuid,
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
    references definitions (id) on delete set null,
  constraint definition_executions_recorded_by_fkey foreign key (recorded_by) references users (id)
);

-- All that statistics want of a window, so that the rows themselves are not read.
create index definition_executions_line_id_recorded_at_idx
  on definition_executions (line_id, recorded_at) include (source, definition_id);
-- For the deletion of old ones. Executions are stored in about the order of their time.
create index definition_executions_recorded_at_idx on definition_executions using brin (recorded_at);
create index definition_executions_definition_id_idx on definition_executions (definition_id);
create index definition_executions_recorded_by_idx on definition_executions (recorded_by);

-- Who has recorded any: two who are counted at once cannot both be the first record of one caller.
create table definition_execution_callers (
  line_id uuid not null,
  user_id uuid not null,
  constraint definition_execution_callers_pkey primary key (line_id, user_id),
  constraint definition_execution_callers_line_id_fkey foreign key (line_id)
    references definition_lines (id) on delete cascade,
  constraint definition_execution_callers_user_id_fkey foreign key (user_id) references users (id)
);

create index definition_execution_callers_user_id_idx on definition_execution_callers (user_id);
