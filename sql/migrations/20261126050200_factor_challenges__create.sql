-- What has begun and waits for a second factor, for minutes: a sign-in whose password was right, or a new factor.
create table factor_challenges (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  purpose text not null,
  -- null for a sign-in, which has no session yet
  session_id uuid,
  -- of a sign-in: sha-256 of its token, and of the password hash that the password was compared with
  token_hash bytea,
  password_digest bytea,
  -- sha-256 of what a passkey has to sign, until it is used
  challenge_hash bytea,
  -- of a new totp factor
  secret bytea,
  wrong_tries integer not null default 0,
  expires_at timestamptz(3) not null,
  constraint factor_challenges_token_hash_key unique (token_hash),
  constraint factor_challenges_session_id_purpose_key unique (session_id, purpose),
  constraint factor_challenges_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
  constraint factor_challenges_session_id_fkey foreign key (session_id) references sessions (id) on delete cascade,
  constraint factor_challenges_purpose_check check (
    case purpose
      when 'sign_in' then session_id is null and num_nonnulls(token_hash, password_digest) = 2
      when 'verify' then session_id is not null and challenge_hash is not null
      when 'add_passkey' then session_id is not null and challenge_hash is not null
      when 'add_totp' then session_id is not null and secret is not null
      else false
    end
  )
);

create index factor_challenges_user_id_idx on factor_challenges (user_id);
create index factor_challenges_expires_at_idx on factor_challenges (expires_at);
