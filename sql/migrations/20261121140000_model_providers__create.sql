create table model_providers (
  -- the source's own id, such as "amazon-bedrock"
  id text primary key,
  name text not null,
  doc_url text,
  api_url text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- when the source stopped listing it
  removed_at timestamptz(3),
  constraint model_providers_id_check check (id <> ''),
  constraint model_providers_name_check check (name <> '')
);
