-- What expires next, for the sweep; and what ended lately, for the metrics.
create index export_jobs_expires_at_id_idx on export_jobs (expires_at, id) where status = 'ready';
create index export_jobs_finished_at_idx on export_jobs (finished_at);
