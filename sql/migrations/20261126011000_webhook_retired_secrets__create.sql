-- Secrets of webhooks that were replaced. They sign deliveries beside the current one until their receivers have it.
create table webhook_retired_secrets (
  id bigint not null generated always as identity primary key,
  webhook_id uuid not null,
  secret text not null,
  expires_at timestamptz(3) not null,
  constraint webhook_retired_secrets_webhook_id_fkey foreign key (webhook_id) references webhooks (id) on delete cascade
);

create index webhook_retired_secrets_webhook_id_expires_at_idx on webhook_retired_secrets (webhook_id, expires_at);
create index webhook_retired_secrets_expires_at_idx on webhook_retired_secrets (expires_at);
