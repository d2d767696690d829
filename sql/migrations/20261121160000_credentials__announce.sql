-- Every API process remembers for some seconds who a credential stands for. What must be forgotten is told here: the id
-- of a key, of a session, or of a user. Which keys were used is noted often, and changes nothing of that.
create function announce_credential_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('ulr_credentials', old.id::text);
  return null;
end
$$;

create trigger api_keys_announce
  after delete or update of user_id, org_id, kind, scope, key_hash, expires_at, revoked_at on api_keys
  for each row
  execute function announce_credential_change();

create trigger sessions_announce_update
  after update of user_id, token_hash, expires_at, revoked_at on sessions
  for each row
  execute function announce_credential_change();

-- The sweep deletes those that have ended, which nobody remembers any more.
create trigger sessions_announce_delete
  after delete on sessions
  for each row when (old.revoked_at is null and old.expires_at > now())
  execute function announce_credential_change();

-- Deleting a user deletes the keys and sessions.
create trigger users_announce
  after update of username, platform_role on users
  for each row
  execute function announce_credential_change();
