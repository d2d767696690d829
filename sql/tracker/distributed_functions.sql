-- Functions for tracker tables that Citus distributes over several database machines (docs/scaling.md). Triggers fire on the
-- shards, on the machine that stores the row. That machine has no undistributed tables. `admin tracker distribute` installs the
-- functions. `migrate` reinstalls them if they differ from this file. The functions for a single machine are in
-- migrations/20261126060000_tracker_tables__functions__replace.sql.

-- Returns the start of the writing transaction, which is now() on the coordinator. On a node, now() is the start of a part of the
-- transaction, by the clock of the node. The function therefore asks the coordinator's session, once per transaction.
create or replace function tracker_transaction_start() returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  known text := current_setting('ulr.transaction_start', true);
  writer bigint;
  answer record;
begin
  if known <> '' then
    return known;
  end if;
  writer := citus_backend_gpid();
  if citus_is_coordinator() and citus_pid_for_gpid(writer) = pg_backend_pid() then
    return now();
  end if;
  -- The node that Citus names where it knows none. Asked for it, citus_nodeid_for_gpid fails in Citus's words.
  if writer / 10000000000 = 99999999 then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'Cannot write tracker rows in this session: the coordinator was not registered when it was opened',
      hint = 'Connect again. If that does not help, call citus_set_coordinator_host() on the coordinator first.';
  end if;
  if citus_nodeid_for_gpid(writer) <> citus_coordinator_nodeid() then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'Cannot write tracker rows through this node: the cutoff of exports waits for sessions of the coordinator',
      hint = 'Connect to the coordinator.';
  end if;
  select success, result into answer
  from run_command_on_coordinator(format(
    $ask$select to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from pg_stat_get_activity(%s)$ask$,
    citus_pid_for_gpid(writer)
  ));
  if not answer.success or coalesce(answer.result, '') = '' then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = format(
        'Cannot learn from the coordinator when the transaction started: %s',
        case when answer.success then 'it hides the session' else answer.result end
      ),
      hint = format('On the coordinator: grant pg_read_all_stats to %I', current_user);
  end if;
  perform set_config('ulr.transaction_start', answer.result, true);
  return answer.result;
end
$$;

-- Returns the relation that logs the changes of a project: the table or, on a node, the shard beside the project's rows. Citus
-- cannot plan an INSERT from the transition table of a trigger.
create or replace function tracker_changes_relation(project uuid) returns regclass
language plpgsql stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (select from pg_dist_partition where logicalrelid = 'tracker_changes'::regclass) then
    return format(
      'public.tracker_changes_%s', get_shard_id_for_distribution_column('tracker_changes'::regclass, project)
    )::regclass;
  end if;
  return 'tracker_changes'::regclass;
end
$$;

-- Rejects rows with a wrong time. The triggers call this function for rows whose time is not now(). On a node, that includes most
-- valid rows.
create or replace function refuse_wrong_time() returns trigger
language plpgsql
as $$
declare
  written timestamptz(3);
begin
  -- Of our own tables. A tracker's own have columns of other names.
  if tg_op = 'INSERT' and tg_table_schema = 'public' then
    if tg_argv[0] = 'changed_at' then
      written := new.changed_at;
    elsif tg_argv[0] = 'created_at' then
      written := new.created_at;
    end if;
    if written = public.tracker_transaction_start()::timestamptz(3) then
      return null;
    end if;
  end if;
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
declare
  project uuid;
begin
  select project_id into project from changed_rows limit 1;
  if found then
    execute format(
      'insert into %s (project_id, dataset, at, kind, id) select project_id, $1, $2, ''row'', id from changed_rows',
      tracker_changes_relation(project)
    ) using tg_argv[0], tracker_transaction_start();
  end if;
  return null;
end
$$;

create or replace function log_tracker_deletions() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  project uuid;
begin
  select project_id into project from deleted_rows limit 1;
  if found then
    execute format(
      'insert into %s (project_id, dataset, at, kind, id) select project_id, $1, $2, ''deletion'', id from deleted_rows',
      tracker_changes_relation(project)
    ) using tg_argv[0], tracker_transaction_start();
  end if;
  return null;
end
$$;

-- Logs a change of one row, for the row triggers.
create or replace function log_tracker_change(project uuid, dataset text, kind text, row_id uuid) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  execute format(
    'insert into %s (project_id, dataset, at, kind, id) values ($1, $2, $3, $4, $5)',
    tracker_changes_relation(project)
  ) using project, dataset, tracker_transaction_start(), kind, row_id;
end
$$;

create or replace function log_tracker_import() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  written timestamptz(3);
begin
  if tg_argv[0] = 'status-history' then
    written := new.changed_at;
  else
    written := new.created_at;
  end if;
  -- Not an import: on a node, now() is not the time of new rows.
  if written = tracker_transaction_start()::timestamptz(3) then
    return null;
  end if;
  perform log_tracker_change(new.project_id, tg_argv[0], 'row', new.id);
  if tg_argv[1] = 'parent' then
    perform log_tracker_change(new.project_id, tg_argv[0], 'visibility', new.id);
  end if;
  return null;
end
$$;

create or replace function log_tracker_visibility() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform log_tracker_change(new.project_id, tg_argv[0], 'visibility', new.id);
  return null;
end
$$;

create or replace function log_tracker_key() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform log_tracker_change(old.project_id, tg_argv[0], 'deletion', old.id);
  return null;
end
$$;

-- Otherwise, any role could forge log entries.
revoke execute on function log_tracker_change(uuid, text, text, uuid) from public;

-- Returns the shard of each tracker table that stores a project's rows, and the node of the shard. Returns no rows if the tables
-- are not distributed.
create or replace function find_tracker_shards(project uuid)
returns table (tracker_table text, shard text, node_host text, node_port integer)
language plpgsql stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (select from pg_dist_partition where logicalrelid = to_regclass('public.runs')) then
    return;
  end if;
  return query
  select c.relname::text, format('public.%I', c.relname || '_' || s.shardid), n.nodename, n.nodeport
  from pg_dist_shard as s
  join pg_class as c on c.oid = s.logicalrelid
  join pg_dist_placement as p on p.shardid = s.shardid
  join pg_dist_node as n on n.groupid = p.groupid and n.noderole = 'primary'
  where s.logicalrelid in (
      select t.logicalrelid
      from pg_dist_partition as t
      where t.colocationid = (select r.colocationid from pg_dist_partition as r where r.logicalrelid = 'public.runs'::regclass)
    )
    and s.shardid = get_shard_id_for_distribution_column(s.logicalrelid, project);
end
$$;

-- Returns the nodes that store tracker rows.
create or replace function list_tracker_nodes() returns table (node_host text, node_port integer)
language plpgsql stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return query
  select distinct n.nodename, n.nodeport
  from pg_dist_shard as s
  join pg_dist_placement as p on p.shardid = s.shardid
  join pg_dist_node as n on n.groupid = p.groupid and n.noderole = 'primary'
  where s.logicalrelid = to_regclass('public.runs');
end
$$;
