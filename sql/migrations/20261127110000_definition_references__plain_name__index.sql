-- no transaction
-- A B-tree, because each row of a hash index passes all others with its name when it is added. Longer texts are no names, may
-- be longer than a B-tree takes, and no query looks for them.
-- squawk-ignore ban-concurrent-index-creation-in-transaction
create index concurrently if not exists definition_references_plain_name_idx on definition_references (name, type)
where length(name) <= 100;
