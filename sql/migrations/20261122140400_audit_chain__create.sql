-- Seals audit entries into one chain: each hash covers the entry, its place and the hash before it. A job seals entries
-- seconds after their commit, so that writers do not wait for one another.
-- Both ends of the chain: entries that are missing at either end would otherwise not be missed.
create table audit_chain (
  is_only boolean primary key default true,
  -- the last entry that retention has deleted
  deleted_position bigint not null default 0,
  deleted_hash bytea not null default sha256(''),
  -- the newest entry
  sealed_position bigint not null default 0,
  sealed_hash bytea not null default sha256(''),
  constraint audit_chain_is_only_check check (is_only)
);
insert into audit_chain default values;

-- A column that is added later must not change the hash of entries that do not have it.
create function audit_entry_hash(entry audit_log) returns bytea
language sql immutable
set search_path = pg_catalog, public, pg_temp
return sha256(entry.previous_hash || convert_to(
  jsonb_build_array(
    entry.position, entry.id, to_char(entry.occurred_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS'),
    entry.actor_type, entry.actor_user_id, entry.credential_id, entry.action, entry.subject_type, entry.subject_id,
    entry.org_id, entry.request_id, entry.client_request_id, entry.address, entry.user_agent, entry.details
  )::text,
  'UTF8'
));

-- The only way from an entry to a sealed one. Runs as its owner: the service may call it, and change no entry itself.
-- Whoever comes while another seals has nothing to do.
create function seal_audit_log(max_entries integer) returns integer
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  chain audit_chain;
  entry audit_log;
  sealed integer := 0;
begin
  select * into chain from audit_chain for update skip locked;
  if not found then
    return 0;
  end if;
  for entry in select * from audit_log a where a.position is null order by a.id limit max_entries loop
    entry.position := chain.sealed_position + 1;
    entry.previous_hash := chain.sealed_hash;
    entry.hash := audit_entry_hash(entry);
    update audit_log a
    set position = entry.position, previous_hash = entry.previous_hash, hash = entry.hash
    where a.id = entry.id;
    chain.sealed_position := entry.position;
    chain.sealed_hash := entry.hash;
    sealed := sealed + 1;
  end loop;
  update audit_chain
  set sealed_position = chain.sealed_position, sealed_hash = chain.sealed_hash
  where sealed > 0;
  return sealed;
end
$$;

-- Deletes the oldest entries of the chain that are older than the given days, which are never fewer than 400, and remembers
-- where the chain begins now.
create function delete_old_audit_entries(max_entries integer, retention_days integer) returns integer
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  chain audit_chain;
  entry audit_log;
  deleted integer := 0;
begin
  select * into chain from audit_chain for update skip locked;
  if not found then
    return 0;
  end if;
  for entry in
    select * from audit_log a where a.position > chain.deleted_position order by a.position limit max_entries
  loop
    exit when entry.occurred_at >= now() - make_interval(days => greatest(retention_days, 400));
    delete from audit_log a where a.id = entry.id;
    chain.deleted_position := entry.position;
    chain.deleted_hash := entry.hash;
    deleted := deleted + 1;
  end loop;
  update audit_chain
  set deleted_position = chain.deleted_position, deleted_hash = chain.deleted_hash
  where deleted > 0;
  return deleted;
end
$$;

-- Holds for every role, the owner of the tables included.
create function guard_audit_log() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if tg_op = 'INSERT' then
    new.occurred_at := now();
    new.position := null;
    return new;
  end if;
  if tg_op = 'UPDATE' and old.position is null
    and to_jsonb(new) - '{position,previous_hash,hash}'::text[]
      = to_jsonb(old) - '{position,previous_hash,hash}'::text[]
  then
    return new;
  end if;
  if tg_op = 'DELETE' and old.occurred_at < now() - interval '400 days' then
    return old;
  end if;
  raise exception 'audit_log is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end
$$;

create trigger audit_log_guard
  before insert or update or delete on audit_log
  for each row
  execute function guard_audit_log();

create trigger audit_log_guard_truncate
  before truncate on audit_log
  for each statement
  execute function guard_audit_log();
