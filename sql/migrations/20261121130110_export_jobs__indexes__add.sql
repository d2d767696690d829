-- What expires next, for the sweep; and what ended lately, for the metrics. The table has a row an export, so locking
-- it while they are made takes no time worth a migration outside of a transaction.
-- squawk-ignore require-concurrent-index-creation
create index export_jobs_expires_at_id_idx on export_jobs (expires_at, id) where status = 'ready';
-- squawk-ignore require-concurrent-index-creation
create index export_jobs_finished_at_idx on export_jobs (finished_at);
