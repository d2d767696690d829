-- No foreign keys: a row outlives what it tells of.
create table audit_log (
  id bigint generated always as identity primary key,
  occurred_at timestamptz(3) not null default now(),
  actor_type text not null,
  actor_user_id uuid,
  -- the key or session that was used
  credential_id uuid,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  org_id uuid,
  request_id text,
  details jsonb not null default '{}',
  constraint audit_log_actor_type_check check (actor_type in ('user', 'operator', 'service'))
);

create index audit_log_org_id_idx on audit_log (org_id, occurred_at);
create index audit_log_subject_idx on audit_log (subject_type, subject_id, occurred_at);
