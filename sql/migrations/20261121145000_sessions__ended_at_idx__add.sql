-- What has ended, for the sweep. The table has a row a sign-in, so locking it while the index is made takes no time
-- worth a migration outside of a transaction.
-- squawk-ignore require-concurrent-index-creation
create index sessions_ended_at_idx on sessions (least(expires_at, revoked_at));
