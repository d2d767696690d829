-- no transaction
drop index concurrently if exists definition_references_name_idx;
