-- Both ends of the settled events.
create table event_log (
  is_only boolean primary key default true,
  -- Events up to here may have been deleted.
  deleted_position bigint not null default 0,
  -- The newest settled event.
  settled_position bigint not null default 0,
  -- What cursors are encrypted with.
  cursor_key bytea not null default substr(sha256(gen_random_uuid()::text::bytea), 1, 16),
  constraint event_log_is_only_check check (is_only),
  constraint event_log_cursor_key_check check (octet_length(cursor_key) = 16)
);
insert into event_log default values;

-- Gives committed events the next positions, in the order in which they were written, and returns their number. Callers take
-- turns by the lock of the one row, which lasts until the commit. So positions become visible in their order, and an event
-- that commits later gets a higher one, however long its transaction was open. Call it as a transaction of its own.
create function settle_events(max_events integer) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  last_position bigint;
  settled integer;
begin
  if not exists (select from events where position is null) then
    return 0;
  end if;
  select settled_position into last_position from event_log for update;
  update events as e
  set position = last_position + n.place
  from (
    select id, row_number() over (order by number) as place
    from (select id, number from events where position is null order by number limit max_events) as unsettled
  ) as n
  where e.id = n.id;
  get diagnostics settled = row_count;
  update event_log set settled_position = last_position + settled where settled > 0;
  return settled;
end
$$;
