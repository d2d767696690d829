-- The prices of a model change at one instant. With a clock for each row, an instant in between had some of the new prices
-- beside old ones.
create or replace function record_model_price_changes() returns trigger language plpgsql as $$
declare
  -- Truncated: rounding could record an instant in the future.
  changed_at constant timestamptz := greatest(date_trunc('milliseconds', clock_timestamp()), new.created_at);
begin
  insert into model_price_changes (provider, model_id, field, old_value, new_value, changed_at, sync_id)
  select
    new.provider,
    new.model_id,
    field,
    before.value::numeric,
    after.value::numeric,
    changed_at,
    nullif(current_setting('ulr.catalog_sync', true), '')::bigint
  from jsonb_each_text(model_prices(old)) as before (field, value)
  full join jsonb_each_text(model_prices(new)) as after (field, value) using (field)
  where before.value::numeric is distinct from after.value::numeric
  order by length(field), field collate "C";
  return null;
end
$$;
