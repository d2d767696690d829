-- Mails about accounts and organizations that were asked for, and the links in them. Rows are kept until their limits and
-- links have ended.
create table account_mails (
  id uuid not null default gen_random_uuid(),
  kind text not null,
  -- the recipient, as the request named it
  email text not null,
  -- whose account the mail is about; null until the job runner has found out
  user_id uuid,
  org_id uuid,
  -- what the mail says and its link does, by kind
  details jsonb not null default '{}',
  -- the network of the request; null if it came from no network
  network text,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- over the hourly limit: the mail is not sent
  is_over_limit boolean not null default false,
  -- SHA-256 of the link's token, which is in the mail and nowhere else
  token_hash bytea,
  sent_at timestamptz(3),
  -- until when the mail is worth sending; once it has a link, the end of the link
  expires_at timestamptz(3) not null default clock_timestamp() + interval '1 day',
  used_at timestamptz(3),
  -- a newer mail or a change of the account has made it worthless
  ended_at timestamptz(3),
  constraint account_mails_pkey primary key (id),
  constraint account_mails_token_hash_key unique (token_hash),
  constraint account_mails_token_hash_check check (octet_length(token_hash) = 32),
  constraint account_mails_kind_check check (kind ~ '^[a-z_]{1,50}$'),
  constraint account_mails_email_check check (email like '_%@_%' and char_length(email) <= 320),
  constraint account_mails_details_check check (jsonb_typeof(details) = 'object'),
  constraint account_mails_used_check check (used_at is null or token_hash is not null),
  constraint account_mails_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
  constraint account_mails_org_id_fkey foreign key (org_id) references organizations (id) on delete cascade
);

-- The hourly limits per address, user and network.
create index account_mails_email_idx on account_mails (lower(email), kind, created_at);
create index account_mails_user_id_idx on account_mails (user_id, kind, created_at) where user_id is not null;
create index account_mails_network_idx on account_mails (network, created_at) where network is not null;
create index account_mails_org_id_idx on account_mails (org_id) where org_id is not null;
create index account_mails_expires_at_idx on account_mails (expires_at);
