-- no transaction
-- squawk-ignore ban-concurrent-index-creation-in-transaction
create index concurrently if not exists definition_lines_plain_name_idx on definition_lines (replace(name, '-', ''))
where name like '%-%';
