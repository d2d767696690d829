-- API processes that read from a replica compare this number to see whether the replica may be behind. So everything they read
-- there raises it: corrections of prices, prices that wait, and syncs, whose refused documents wait as a whole.
create trigger model_price_corrections_raise_catalog_version
  after insert or update or delete or truncate on model_price_corrections
  for each statement
  execute function raise_catalog_version();

create trigger held_prices_raise_catalog_version
  after insert or update or delete or truncate on held_prices
  for each statement
  execute function raise_catalog_version();

-- Not for deletions: the job runner deletes old syncs, which changes nothing that is read.
create trigger catalog_syncs_raise_catalog_version
  after insert or update on catalog_syncs
  for each statement
  execute function raise_catalog_version();
