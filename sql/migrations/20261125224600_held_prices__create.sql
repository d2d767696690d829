-- Prices of a source that change so much that they may be a mistake. They are taken when a sync at least an hour later finds
-- them again, or when an operator says so.
create table held_prices (
  provider text not null,
  model_id text not null,
  -- all prices of the model by their name in the API, as model_prices() has them
  prices jsonb not null,
  -- of the model at these prices
  tier text not null,
  tier_source text not null,
  first_seen_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  times_seen int not null default 1,
  -- when an operator said that they are wrong
  rejected_at timestamptz(3),
  constraint held_prices_pkey primary key (provider, model_id),
  constraint held_prices_provider_model_id_fkey
    foreign key (provider, model_id) references models (provider, model_id)
);
