-- The job runners that are alive: each updates its row every few seconds, and deletes it when it stops.
create table job_runners (
  id uuid primary key,
  seen_at timestamptz(3) not null default now()
);
