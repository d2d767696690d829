-- no transaction
-- squawk-ignore ban-concurrent-index-creation-in-transaction
create index concurrently if not exists organizations_deletes_at_idx on organizations (deletes_at) where deletes_at is not null and deleted_at is null;
