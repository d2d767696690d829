create table model_providers (
  -- as the source spells it, such as "amazon-bedrock"
  id text primary key,
  name text not null,
  doc_url text,
  api_url text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- since when the source does not name it any more
  removed_at timestamptz(3),
  constraint model_providers_id_check check (id <> ''),
  constraint model_providers_name_check check (name <> '')
);
