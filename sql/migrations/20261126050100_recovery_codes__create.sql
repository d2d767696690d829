-- Codes that stand in for a lost second factor, each once.
create table recovery_codes (
  user_id uuid not null,
  -- sha-256 of the code, which has 80 random bits and is stored nowhere
  code_hash bytea not null,
  created_at timestamptz(3) not null default now(),
  used_at timestamptz(3),
  constraint recovery_codes_pkey primary key (user_id, code_hash),
  constraint recovery_codes_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
  constraint recovery_codes_code_hash_check check (octet_length(code_hash) = 32)
);
