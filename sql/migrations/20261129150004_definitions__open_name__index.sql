-- no transaction
-- Whether anyone shares a name: lines of one that thousands of organizations keep to themselves are not read for others.
-- squawk-ignore ban-concurrent-index-creation-in-transaction
create index concurrently if not exists definitions_open_name_idx on definitions (name, type)
where status <> 'draft' and visibility <> 'private' and quarantined_at is null;
