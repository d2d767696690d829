-- What users prove themselves with beside the password. A factor is here once its user has proven it.
create table second_factors (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  kind text not null,
  name text not null,
  -- of totp: the shared secret, which the service must read, as it must read those of webhooks
  secret bytea,
  -- the 30 s step of the last code that was accepted: a code works once
  last_step bigint,
  -- wrong codes within a day of the first of them
  wrong_codes integer not null default 0,
  wrong_codes_since timestamptz(3),
  -- of passkeys
  credential_id bytea,
  public_key bytea,
  sign_count bigint,
  transports text[],
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  constraint second_factors_credential_id_key unique (credential_id),
  constraint second_factors_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
  constraint second_factors_kind_check check (
    case kind
      when 'totp' then num_nonnulls(secret, last_step) = 2 and num_nonnulls(credential_id, public_key, sign_count, transports) = 0
      when 'passkey' then num_nonnulls(secret, last_step) = 0 and num_nonnulls(credential_id, public_key, sign_count, transports) = 4
      else false
    end
  ),
  constraint second_factors_name_check check (length(name) between 1 and 100)
);

create index second_factors_user_id_idx on second_factors (user_id);
