-- Since when the source's row of the model cannot be read; null while it can.
alter table models add column stale_since timestamptz(3);

-- A cost with an input price alone is one, as of embeddings.
alter table models drop constraint models_cost_check;

-- The table is small.
-- squawk-ignore constraint-missing-not-valid
alter table models add constraint models_cost_check check (
  (
    input_usd_per_mtok is not null
    or num_nonnulls(output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_usd_per_mtok, pricing) = 0
  )
  and least(input_usd_per_mtok, output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_usd_per_mtok) >= 0
);
