-- no transaction
-- squawk-ignore ban-concurrent-index-creation-in-transaction
create index concurrently if not exists definitions_json_hash_idx on definitions (id) where json_hash is distinct from hash;
