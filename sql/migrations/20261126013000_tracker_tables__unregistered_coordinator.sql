-- A session that was opened before citus_set_coordinator_host() gets an error that says what to do.
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
  if to_regproc('pg_catalog.citus_backend_gpid') is null then
    return now();
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
