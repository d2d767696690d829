create table models (
  provider text not null,
  -- the provider's own id, with slashes, colons and upper case
  model_id text not null,
  name text not null,
  description text not null,
  family text,
  has_vision boolean not null,
  has_tools boolean not null,
  has_streaming boolean not null,
  has_reasoning boolean not null,
  has_structured_output boolean not null,
  has_attachment boolean not null,
  input_modalities text[] not null,
  output_modalities text[] not null,
  input_usd_per_mtok numeric,
  output_usd_per_mtok numeric,
  cache_read_usd_per_mtok numeric,
  cache_write_usd_per_mtok numeric,
  -- other prices by their name in the API: {"reasoning": 7, "tiers.200000.input": 2.5}
  pricing jsonb,
  context_tokens int,
  output_tokens int,
  tier text not null,
  -- the rule that chose the tier
  tier_source text not null,
  status text not null,
  release_date date,
  knowledge_cutoff date,
  is_open_weights boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- when the source stopped listing it
  removed_at timestamptz(3),
  constraint models_pkey primary key (provider, model_id),
  constraint models_provider_fkey foreign key (provider) references model_providers (id),
  constraint models_model_id_check check (model_id <> ''),
  constraint models_name_check check (name <> ''),
  constraint models_cost_check check (
    (input_usd_per_mtok is null) = (output_usd_per_mtok is null)
    and (input_usd_per_mtok is not null or num_nonnulls(cache_read_usd_per_mtok, cache_write_usd_per_mtok, pricing) = 0)
    and least(input_usd_per_mtok, output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_usd_per_mtok) >= 0
  ),
  constraint models_pricing_check check (
    pricing @? '$ ? (@.type() == "object")' and not pricing @? '$.* ? (@.type() != "number" || @ < 0)'
  ),
  constraint models_limits_check check (least(context_tokens, output_tokens) > 0),
  constraint models_tier_check check (tier in ('budget', 'standard', 'premium', 'reasoning')),
  constraint models_tier_source_check check (tier_source in ('reasoner', 'price', 'peers', 'free', 'unpriced')),
  constraint models_status_check check (status in ('available', 'preview', 'deprecated')),
  constraint models_removed_at_check check (not (removed_at is not null and status <> 'deprecated'))
);

-- All prices of a model by their name in the API, in USD per million tokens; {} without prices.
create function model_prices(model models) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'input', model.input_usd_per_mtok,
    'output', model.output_usd_per_mtok,
    'cacheRead', model.cache_read_usd_per_mtok,
    'cacheWrite', model.cache_write_usd_per_mtok
  )) || coalesce(model.pricing, '{}')
$$;
