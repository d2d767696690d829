-- Partitions the eight tracker tables by hash (project_id) into eight partitions each. For operators whose tables are too
-- large for one VACUUM, one index or one disk. Queries and names stay the same.
--
--   psql --single-transaction --set ON_ERROR_STOP=1 --file sql/partition_tracker_tables.sql "$OWNER_URL"
--
-- It runs in one transaction: an error changes nothing. Rows are copied, so it needs the space of the tables again, and they
-- are locked meanwhile. For more partitions, change `modulus`; later, partitions can only be split to a multiple of it.
-- Afterwards, moving a row to another project needs `set ulr.backfill = 'on'`.

do $$
declare
  modulus constant integer := 8;
  -- Parents before children.
  tracker_tables constant text[] := array[
    'runs', 'issues', 'agent_snapshots', 'occurrences', 'issue_notes', 'status_history', 'analysis_summaries',
    'analysis_records'
  ];
  tracker_table text;
  definition record;
  statement text;
begin
  -- The steps below copy columns, defaults, checks, keys, indexes, owners, grants, comments and our own triggers, and
  -- nothing else.
  for definition in
    select c.relname
    from pg_class as c
    where c.relnamespace = 'public'::regnamespace
      and c.relname = any (tracker_tables)
      and (
        c.relkind <> 'r'
        or c.relrowsecurity
        or exists (
          select from pg_trigger as t
          where t.tgrelid = c.oid and not t.tgisinternal and t.tgname !~ '_(time|log)_(insert|update|delete|key|visibility|truncate)_trigger$'
        )
        or exists (select from pg_publication_rel as p where p.prrelid = c.oid)
      )
  loop
    raise exception 'Cannot partition %: it is partitioned already, or has other triggers, row security or publications',
      definition.relname;
  end loop;

  -- Rename the old tables, indexes, constraints and sequences, so that the new ones can have their names.
  create schema tracker_before;
  foreach tracker_table in array tracker_tables loop
    execute format('lock table public.%I in access exclusive mode', tracker_table);
  end loop;
  foreach tracker_table in array tracker_tables loop
    execute format('alter table public.%I set schema tracker_before', tracker_table);
    execute format(
      'create table public.%1$I (like tracker_before.%1$I including all excluding indexes) partition by hash (project_id)',
      tracker_table
    );
    for remainder in 0..modulus - 1 loop
      execute format(
        'create table public.%I partition of public.%I for values with (modulus %s, remainder %s)',
        tracker_table || '_' || remainder, tracker_table, modulus, remainder
      );
    end loop;
    execute format('insert into public.%1$I select * from tracker_before.%1$I', tracker_table);
  end loop;

  -- Keys first, because foreign keys refer to them; then foreign keys and the other indexes.
  for definition in
    select t.relname, k.conname, pg_get_constraintdef(k.oid) as text
    from pg_constraint as k
    join pg_class as t on t.oid = k.conrelid
    where t.relnamespace = 'tracker_before'::regnamespace and k.contype in ('p', 'u', 'f')
    order by k.contype = 'f', t.relname, k.conname
  loop
    execute format(
      'alter table public.%I add constraint %I %s',
      definition.relname, definition.conname, replace(definition.text, 'tracker_before.', 'public.')
    );
  end loop;
  for definition in
    select pg_get_indexdef(i.indexrelid) as text
    from pg_index as i
    join pg_class as t on t.oid = i.indrelid
    where t.relnamespace = 'tracker_before'::regnamespace
      and not exists (select from pg_constraint as k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))
  loop
    execute replace(definition.text, ' ON tracker_before.', ' ON public.');
  end loop;

  for definition in
    select pg_get_triggerdef(g.oid) as text
    from pg_trigger as g
    join pg_class as t on t.oid = g.tgrelid
    where t.relnamespace = 'tracker_before'::regnamespace and not g.tgisinternal
  loop
    statement := replace(definition.text, ' ON tracker_before.', ' ON public.');
    -- A row moves to another partition by a deletion and an insertion, and statement triggers do not see the deletion.
    if statement like '% EXECUTE FUNCTION log_tracker_deletions(%' then
      statement := replace(statement, 'REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT', 'FOR EACH ROW');
      statement := replace(statement, 'log_tracker_deletions(', 'log_tracker_key(');
    end if;
    execute statement;
  end loop;

  -- Sequences are kept with their values.
  for definition in
    select s.relname as sequence_name, t.relname as table_name, a.attname as column_name
    from pg_depend as d
    join pg_class as s on s.oid = d.objid and s.relkind = 'S'
    join pg_class as t on t.oid = d.refobjid
    join pg_attribute as a on a.attrelid = t.oid and a.attnum = d.refobjsubid
    where d.classid = 'pg_class'::regclass
      and d.refclassid = 'pg_class'::regclass
      and d.deptype = 'a'
      and t.relnamespace = 'tracker_before'::regnamespace
  loop
    execute format('alter sequence tracker_before.%I owned by none', definition.sequence_name);
    execute format('alter sequence tracker_before.%I set schema public', definition.sequence_name);
    execute format(
      'alter sequence public.%I owned by public.%I.%I',
      definition.sequence_name, definition.table_name, definition.column_name
    );
  end loop;

  -- Grants. Privileges are checked on the partitioned table, not on its partitions.
  for statement in
    select format('alter table public.%I owner to %I', p.relname, pg_get_userbyid(t.relowner))
    from pg_class as t
    join pg_class as p on p.relnamespace = 'public'::regnamespace
      and (p.relname = t.relname or p.oid in (
        select i.inhrelid from pg_inherits as i where i.inhparent = format('public.%I', t.relname)::regclass
      ))
    where t.relnamespace = 'tracker_before'::regnamespace and t.relkind = 'r'
    union all
    select format(
      'grant %s on public.%I to %s%s',
      g.privilege_type, t.relname,
      case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end,
      case when g.is_grantable then ' with grant option' else '' end
    )
    from pg_class as t
    cross join lateral aclexplode(t.relacl) as g
    where t.relnamespace = 'tracker_before'::regnamespace and t.relkind = 'r' and g.grantee <> t.relowner
    union all
    select format(
      'grant %s (%I) on public.%I to %s%s',
      g.privilege_type, a.attname, t.relname,
      case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end,
      case when g.is_grantable then ' with grant option' else '' end
    )
    from pg_class as t
    join pg_attribute as a on a.attrelid = t.oid
    cross join lateral aclexplode(a.attacl) as g
    where t.relnamespace = 'tracker_before'::regnamespace and t.relkind = 'r'
  loop
    execute statement;
  end loop;

  -- Children first, without cascade: a view on a table raises an error, and nothing changes.
  for position in reverse array_length(tracker_tables, 1)..1 loop
    execute format('drop table tracker_before.%I', tracker_tables[position]);
  end loop;
  drop schema tracker_before;
end
$$;

-- Autovacuum analyzes partitions, but not the partitioned tables.
analyze runs, issues, agent_snapshots, occurrences, issue_notes, status_history, analysis_summaries, analysis_records;
