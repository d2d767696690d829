-- Events on their way to a webhook, and the last 100 of each webhook that are done.
create table webhook_deliveries (
  -- Sent as webhook-id, the same with every attempt.
  id uuid primary key default gen_random_uuid(),
  number bigint not null generated always as identity,
  webhook_id uuid not null,
  event_id uuid not null,
  type text not null,
  -- The body of the request.
  payload text not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  created_at timestamptz(3) not null default now(),
  next_attempt_at timestamptz(3) not null default now(),
  first_attempt_at timestamptz(3),
  last_attempt_at timestamptz(3),
  -- Of the last attempt; null if there was no response.
  response_status integer,
  error text,
  constraint webhook_deliveries_webhook_id_event_id_key unique (webhook_id, event_id),
  constraint webhook_deliveries_webhook_id_fkey foreign key (webhook_id) references webhooks (id) on delete cascade,
  constraint webhook_deliveries_status_check check (status in ('pending', 'delivered', 'failed'))
);

create index webhook_deliveries_webhook_id_number_idx on webhook_deliveries (webhook_id, number);
create index webhook_deliveries_pending_idx on webhook_deliveries (webhook_id, next_attempt_at) where status = 'pending';
