-- What an operator knows better about past prices. A correction counts for its time, and changes no recorded price. Of several
-- for the same instant the last one counts.
create table model_price_corrections (
  id bigint generated always as identity primary key,
  provider text not null,
  model_id text not null,
  -- its name in the API, such as input or tiers.200000.input
  field text not null,
  -- USD per million tokens; null means that the price is not known
  value numeric,
  valid_from timestamptz(3) not null,
  valid_to timestamptz(3) not null,
  reason text not null,
  known_from timestamptz(3) not null default now(),
  constraint model_price_corrections_provider_model_id_fkey
    foreign key (provider, model_id) references models (provider, model_id),
  constraint model_price_corrections_field_check check (
    field ~ '^(tiers\.[1-9][0-9]*\.)?(input|output|cacheRead|cacheWrite|reasoning|inputAudio|outputAudio)$'
  ),
  constraint model_price_corrections_value_check check (value >= 0),
  constraint model_price_corrections_valid_to_check check (valid_from < valid_to),
  constraint model_price_corrections_reason_check check (reason <> '')
);

create index model_price_corrections_provider_model_id_id_idx on model_price_corrections (provider, model_id, id);
