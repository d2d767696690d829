-- When the mail server took the mail that says the export is ready.
alter table export_jobs add column mailed_at timestamptz(3);
alter table export_jobs add constraint export_jobs_mailed_at_check
  check (mailed_at is null or ready_at is not null) not valid;
