create table status_history (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  issue_id uuid not null,
  old_status text,
  new_status text not null,
  reason text,
  changed_at timestamptz(3) not null default now(),
  transition_type text,
  reverted_change_id uuid,
  run_id uuid,
  source text,
  -- insertion order
  seq bigint,
  constraint status_history_pkey primary key (project_id, id),
  constraint status_history_project_id_issue_id_fkey
    foreign key (project_id, issue_id) references issues (project_id, id),
  constraint status_history_reason_check check (char_length(reason) <= 1000),
  constraint status_history_transition_type_check check (transition_type in ('change', 'undo'))
);

create sequence status_history_seq_seq as bigint owned by status_history.seq;
alter table status_history alter column seq set default nextval('status_history_seq_seq');

create index status_history_project_id_changed_at_id_idx on status_history (project_id, changed_at, id);
create index status_history_project_id_issue_id_idx on status_history (project_id, issue_id, changed_at, id);
