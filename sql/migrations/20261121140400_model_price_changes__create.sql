create table model_price_changes (
  -- in the order of the changes of a model, even if the clock was set back between two of them
  id bigint generated always as identity primary key,
  provider text not null,
  model_id text not null,
  -- its name in the API, such as input or tiers.200000.input
  field text not null,
  -- USD per million tokens; null means no price
  old_value numeric,
  new_value numeric,
  changed_at timestamptz(3) not null,
  -- null for a change by an operator's SQL
  sync_id bigint,
  constraint model_price_changes_field_check check (
    field ~ '^(tiers\.[1-9][0-9]*\.)?(input|output|cacheRead|cacheWrite|reasoning|inputAudio|outputAudio)$'
  ),
  constraint model_price_changes_value_check check (old_value is distinct from new_value),
  constraint model_price_changes_provider_model_id_fkey
    foreign key (provider, model_id) references models (provider, model_id),
  constraint model_price_changes_sync_id_fkey foreign key (sync_id) references catalog_syncs (id)
);

-- Prices as of an instant are today's prices without the changes after it: everything that takes is in the index.
create index model_price_changes_provider_model_id_id_idx
  on model_price_changes (provider, model_id, id) include (changed_at, field, old_value);
create index model_price_changes_sync_id_idx on model_price_changes (sync_id);

-- Records every change, whether a sync's or an operator's. A sync sets ulr.catalog_sync to its id. The lock of the model's
-- row orders writers, so ids follow the order of the changes.
create function record_model_price_changes() returns trigger language plpgsql as $$
begin
  insert into model_price_changes (provider, model_id, field, old_value, new_value, changed_at, sync_id)
  select
    new.provider,
    new.model_id,
    field,
    before.value::numeric,
    after.value::numeric,
    -- Truncated: rounding could record an instant in the future.
    greatest(date_trunc('milliseconds', clock_timestamp()), new.created_at),
    nullif(current_setting('ulr.catalog_sync', true), '')::bigint
  from jsonb_each_text(model_prices(old)) as before (field, value)
  full join jsonb_each_text(model_prices(new)) as after (field, value) using (field)
  where before.value::numeric is distinct from after.value::numeric
  order by length(field), field collate "C";
  return null;
end
$$;

create trigger models_record_price_changes
  after update on models
  for each row
  when (
    old.input_usd_per_mtok is distinct from new.input_usd_per_mtok
    or old.output_usd_per_mtok is distinct from new.output_usd_per_mtok
    or old.cache_read_usd_per_mtok is distinct from new.cache_read_usd_per_mtok
    or old.cache_write_usd_per_mtok is distinct from new.cache_write_usd_per_mtok
    or old.pricing is distinct from new.pricing
  )
  execute function record_model_price_changes();
