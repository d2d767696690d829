-- No foreign key: an operator may name a model before it is in the catalog. A manual row overrides the generated row of the
-- same name until it is deleted.
create table model_aliases (
  alias text not null,
  origin text not null default 'manual',
  provider text not null,
  model_id text not null,
  scope text not null default 'global',
  deprecated boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint model_aliases_pkey primary key (alias, origin),
  constraint model_aliases_alias_check check (alias <> ''),
  constraint model_aliases_origin_check check (origin in ('generated', 'manual')),
  constraint model_aliases_scope_check check (scope = 'global')
);
