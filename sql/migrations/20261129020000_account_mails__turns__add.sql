-- A mail over the hourly limit may wait until due_at. One for which the job runner found nothing to send (skipped_at) does not
-- count for the limit.
alter table account_mails
  add column due_at timestamptz(3),
  add column skipped_at timestamptz(3);
