-- PostgreSQL moves a row to another partition by a deletion and an insertion: no row trigger of updates fires, and no
-- statement trigger of deletions. Partitioned tables therefore log deletions by row, which `partition_tracker_tables.sql` does
-- too. Others keep the statement trigger, which costs less.
do $migration$
declare
  definition record;
begin
  for definition in
    select c.relname, t.tgname, pg_get_triggerdef(t.oid) as text
    from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
    where c.relnamespace = 'public'::regnamespace
      and c.relkind = 'p'
      and t.tgfoid = 'public.log_tracker_deletions()'::regprocedure
  loop
    execute format('drop trigger %I on public.%I', definition.tgname, definition.relname);
    execute replace(
      replace(definition.text, 'REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT', 'FOR EACH ROW'),
      'log_tracker_deletions(', 'log_tracker_key('
    );
  end loop;
end
$migration$;
