create table model_price_changes (
  id bigint generated always as identity primary key,
  provider text not null,
  model_id text not null,
  -- of the model's cost, as the API spells it
  field text not null,
  -- USD per million tokens; null where there was, or is, no price
  old_value numeric,
  new_value numeric,
  changed_at timestamptz(3) not null default now(),
  sync_id bigint not null,
  constraint model_price_changes_field_check check (field in ('input', 'output', 'cacheRead', 'cacheWrite')),
  constraint model_price_changes_value_check check (old_value is distinct from new_value),
  constraint model_price_changes_provider_model_id_fkey
    foreign key (provider, model_id) references models (provider, model_id),
  constraint model_price_changes_sync_id_fkey foreign key (sync_id) references catalog_syncs (id)
);

create index model_price_changes_provider_model_id_changed_at_idx
  on model_price_changes (provider, model_id, changed_at);
create index model_price_changes_sync_id_idx on model_price_changes (sync_id);
