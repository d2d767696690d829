create table api_keys (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  -- null: the key works for every organization of its owner
  org_id uuid,
  kind text not null default 'user',
  scope text not null default 'write',
  name text,
  prefix text not null,
  -- sha-256 of the key; the key itself is stored nowhere
  key_hash bytea not null,
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint api_keys_key_hash_key unique (key_hash),
  constraint api_keys_key_hash_check check (octet_length(key_hash) = 32),
  constraint api_keys_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
  constraint api_keys_org_id_fkey foreign key (org_id) references organizations (id) on delete cascade,
  constraint api_keys_kind_check check (kind in ('user', 'automation', 'system')),
  constraint api_keys_scope_check check (scope in ('read', 'write'))
);

create index api_keys_user_id_idx on api_keys (user_id, created_at);
create index api_keys_org_id_idx on api_keys (org_id) where org_id is not null;
