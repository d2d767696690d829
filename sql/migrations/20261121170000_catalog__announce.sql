-- Every API process answers from a copy of the catalogue in its memory. Whatever changes the tables it is made from, be it
-- a sync or an operator's own SQL, tells them when it commits.
create function announce_catalog_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('ulr_catalog', '');
  return null;
end
$$;

create trigger model_providers_announce
  after insert or update or delete or truncate on model_providers
  for each statement
  execute function announce_catalog_change();

create trigger models_announce
  after insert or update or delete or truncate on models
  for each statement
  execute function announce_catalog_change();

create trigger model_aliases_announce
  after insert or update or delete or truncate on model_aliases
  for each statement
  execute function announce_catalog_change();

create trigger catalog_syncs_announce
  after insert on catalog_syncs
  for each statement
  execute function announce_catalog_change();
