-- Addresses that organizations have events delivered to (docs/webhooks.md).
create table webhooks (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null,
  url text not null,
  -- Types of events.
  types text[] not null,
  -- Signs deliveries, so it cannot be a hash. Never listed or logged.
  secret text not null,
  -- Deliveries have been queued for events up to here.
  position bigint not null,
  -- When a delivery is due, the last failure is long enough ago, and no runner is sending. Null if nothing is pending.
  due_at timestamptz(3),
  -- Attempts that have failed since the last success.
  failures integer not null default 0,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint webhooks_org_id_fkey foreign key (org_id) references organizations (id) on delete cascade
);

create index webhooks_org_id_idx on webhooks (org_id);
create index webhooks_due_at_idx on webhooks (due_at) where due_at is not null;
create index webhooks_position_idx on webhooks (position) where disabled_at is null;
