-- The functions of the tracker tables for one machine. Where the tables are distributed with Citus, they have others, which
-- `admin tracker distribute` and `migrate` install: sql/tracker/distributed_functions.sql.
do $migration$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    -- By itself: without Citus, the next query names what is not there.
    if exists (select from pg_dist_partition where logicalrelid = 'public.runs'::regclass) then
      return;
    end if;
  end if;

  create or replace function refuse_wrong_time() returns trigger
  language plpgsql
  as $$
  begin
    raise exception using
      errcode = 'check_violation',
      message = format(
        case tg_op
          when 'INSERT' then '%s of a new row of "%s" must be the start of its transaction, now()'
          else '%s of a row of "%s" must not change'
        end,
        tg_argv[0], tg_table_name
      ),
      hint = 'Exports rely on it. To import old rows: set ulr.backfill = ''on''.';
  end
  $$;

  create or replace function log_tracker_updates() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp
  as $$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    select project_id, tg_argv[0], now(), 'row', id
    from changed_rows;
    return null;
  end
  $$;

  create or replace function log_tracker_deletions() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp
  as $$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    select project_id, tg_argv[0], now(), 'deletion', id
    from deleted_rows;
    return null;
  end
  $$;

  create or replace function log_tracker_import() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp
  as $$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    values (new.project_id, tg_argv[0], now(), 'row', new.id);
    if tg_argv[1] = 'parent' then
      insert into tracker_changes (project_id, dataset, at, kind, id)
      values (new.project_id, tg_argv[0], now(), 'visibility', new.id);
    end if;
    return null;
  end
  $$;

  create or replace function log_tracker_visibility() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp
  as $$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    values (new.project_id, tg_argv[0], now(), 'visibility', new.id);
    return null;
  end
  $$;

  create or replace function log_tracker_key() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp
  as $$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    values (old.project_id, tg_argv[0], now(), 'deletion', old.id);
    return null;
  end
  $$;

  -- The next release drops these four: statements and processes of this moment may still call them.
  create or replace function tracker_transaction_start() returns timestamptz
  language sql stable
  as $$ select now() $$;

  create or replace function log_tracker_change(project uuid, dataset text, kind text, row_id uuid) returns void
  language sql
  set search_path = pg_catalog, public, pg_temp
  as $$
    insert into tracker_changes (project_id, dataset, at, kind, id) values (project, dataset, now(), kind, row_id)
  $$;

  create or replace function find_tracker_shards(project uuid)
  returns table (tracker_table text, shard text, node_host text, node_port integer)
  language sql stable
  as $$ select null::text, null::text, null::text, null::integer where false $$;

  create or replace function list_tracker_nodes() returns table (node_host text, node_port integer)
  language sql stable
  as $$ select null::text, null::integer where false $$;

  -- Its presence says that the tables are distributed.
  drop function if exists tracker_changes_relation(uuid);
end
$migration$;
