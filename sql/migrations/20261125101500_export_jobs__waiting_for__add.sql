-- A build that was stopped by a fault of the storage or the database waits before it is tried again. Processes of older
-- releases neither read nor write these columns: a build that they begin leaves them as they are.
alter table export_jobs
  -- what a queued job waits for; null if it waits only for a job runner
  add column waiting_for text
    constraint export_jobs_waiting_for_check check (waiting_for in ('storage', 'database')),
  -- when it is tried again
  add column retry_at timestamptz(3)
    constraint export_jobs_retry_at_check check ((waiting_for is null) = (retry_at is null)),
  -- of this job; EXPORT_BUILD_PATIENCE_MINUTES counts from here
  add column first_fault_at timestamptz(3),
  add column faults int not null default 0;
