-- What happened, for integrations: GET /events and webhooks (docs/contract.md, Events). A row is written in the transaction of what it
-- reports, and the job runner deletes it after EVENT_RETENTION_DAYS.
create table events (
  id uuid primary key default gen_random_uuid(),
  -- The order in which rows were written, which is not the order of commits.
  number bigint not null generated always as identity,
  -- The order in which readers get events. Set by settle_events() after the commit, so that no event can appear behind one
  -- that a reader has seen. Null until then.
  position bigint,
  type text not null,
  created_at timestamptz(3) not null default now(),
  -- Null for models.
  org_id uuid,
  -- Published versions are never deleted alone, so this needs no foreign key.
  definition_id uuid,
  -- For everyone, unless the definition is quarantined. The visibility of a published version never changes.
  is_public boolean not null,
  data jsonb not null,
  constraint events_number_key unique (number),
  constraint events_type_check check (type in (
    'export.ready', 'export.failed', 'definition.published', 'definition.deprecated', 'definition.archived', 'model.added',
    'model.gone', 'model.price_changed'
  )),
  constraint events_org_id_fkey foreign key (org_id) references organizations (id) on delete cascade
);

-- A page is read per organization and type, so that a rare type is found without reading the others. No index begins with the
-- position: the planner would read it from the start and drop most rows.
create index events_org_id_type_position_idx on events (org_id, type, position);
create index events_type_position_idx on events (type, position) where is_public;
create index events_unsettled_idx on events (number) where position is null;
