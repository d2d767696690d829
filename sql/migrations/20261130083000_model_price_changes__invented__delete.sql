-- Removes the price changes that the demo of earlier checkouts invented for the catalog's models. It dated them by a hash of
-- the model's name, back from its own instant, 90 days after the instant that it gave every model. So an invented change is
-- one that no sync made, by exactly one of the demo's factors, at exactly one of these instants. No recorded change is: it
-- would be older than its model.
with invented as (
  select change.id, model.created_at
  from model_price_changes as change
  join models as model using (provider, model_id)
  cross join lateral (select hashtext(model.provider || '/' || model.model_id) & 1023 as seed) as chance
  cross join lateral (select case when seed % 5 = 0 then 0.8 else 1.25 end as factor) as direction
  cross join lateral generate_series(1, 1 + seed % 3) as age (step)
  where change.id > 0
    and change.sync_id is null
    and change.changed_at = model.created_at
      + make_interval(days => 90 - (step - 1) * 28 - 2 - seed % 25, secs => -61 * seed)
    -- Both values were rounded to six digits.
    and abs(change.old_value - change.new_value * factor) <= 0.000002
), removed as (
  delete from model_price_changes where id in (select id from invented) returning id
)
-- The prices of these models are known since the demo was made.
update models
set created_at = created_at + interval '90 days', prices_known_since = created_at + interval '90 days'
where exists (select from removed) and created_at in (select created_at from invented);
