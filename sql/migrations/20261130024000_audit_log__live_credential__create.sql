-- A write that waited for its turn or a lock commits nothing if its key, session or user has ended meanwhile: every write of a
-- user adds an entry, which is checked when the transaction commits, after all its locks. What the transaction itself revokes
-- has not ended: people sign out, and members leave with a key for that organization. Notes of refused requests stay.
create function refuse_ended_credential() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select
    from (
      select user_id, revoked_at, expires_at from api_keys where id = new.credential_id
      union all
      select user_id, revoked_at, expires_at from sessions where id = new.credential_id
    ) as c
    join users as u on u.id = c.user_id
    where (c.revoked_at is null or c.revoked_at = now()::timestamptz(3))
      and (c.expires_at is null or c.expires_at > clock_timestamp())
      and u.disabled_at is null
  ) then
    raise exception 'Cannot write with credential %: it has ended', new.credential_id
      using errcode = 'restrict_violation', constraint = 'audit_log_live_credential', table = 'audit_log';
  end if;
  return null;
end
$$;

create constraint trigger audit_log_live_credential
after insert on audit_log deferrable initially deferred
for each row when (new.credential_id is not null and new.action <> 'request.refuse')
execute function refuse_ended_credential();
