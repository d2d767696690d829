-- Which model each alias stood for, and since when. A generated alias counts unless an operator has one of the same name.
create table model_alias_targets (
  -- in the order of the changes
  id bigint generated always as identity primary key,
  alias text not null,
  -- null after the alias was deleted
  provider text,
  model_id text,
  valid_from timestamptz(3) not null,
  constraint model_alias_targets_target_check check ((provider is null) = (model_id is null))
);

create index model_alias_targets_alias_id_idx on model_alias_targets (alias, id);

-- Runs after model_aliases_raise_catalog_version, because triggers run in the order of their names. That trigger locks the
-- catalog until the transaction ends, so this one sees every alias of other writers.
create function record_model_alias_targets() returns trigger language plpgsql as $$
begin
  insert into model_alias_targets (alias, provider, model_id, valid_from)
  select alias, effective.provider, effective.model_id, date_trunc('milliseconds', clock_timestamp())
  from (
    select distinct on (alias) alias, provider, model_id
    from model_aliases
    order by alias, origin = 'manual' desc
  ) as effective
  full join (
    select distinct on (alias) alias, provider, model_id
    from model_alias_targets
    order by alias, id desc
  ) as recorded using (alias)
  where (effective.provider, effective.model_id) is distinct from (recorded.provider, recorded.model_id);
  return null;
end
$$;

create trigger model_aliases_record_targets
  after insert or update or delete or truncate on model_aliases
  for each statement
  execute function record_model_alias_targets();
