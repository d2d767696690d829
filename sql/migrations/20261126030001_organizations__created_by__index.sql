-- no transaction
-- squawk-ignore ban-concurrent-index-creation-in-transaction
create index concurrently if not exists organizations_created_by_idx on organizations (created_by) where created_by is not null;
