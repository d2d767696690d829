-- No foreign keys: a job outlives its organization, to fail with ORGANIZATION_GONE, and the person who asked for it.
create table export_jobs (
  -- also the id of its entry in the queue
  id uuid primary key default gen_random_uuid(),
  -- counts the organization's jobs, from 1
  number int not null,
  org_id uuid not null,
  requested_by uuid not null,
  status text not null default 'queued',
  format text not null,
  as_of timestamptz(3) not null,
  -- of an increment (docs/increments.md); null for a full export
  since timestamptz(3),
  include_deleted boolean not null,
  include_archived boolean not null,
  include_superseded boolean not null,
  include_resolved boolean not null,
  -- 0 before the first build; a builder changes the row only while this is the attempt it began
  attempt int not null default 0,
  projects_done int not null default 0,
  projects_total int not null default 0,
  rows_written bigint not null default 0,
  bytes_written bigint not null default 0,
  -- where the artifact store keeps the file
  artifact_key text,
  artifact_file_name text,
  artifact_bytes bigint,
  -- hex
  artifact_sha256 text,
  error_code text,
  error_message text,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  ready_at timestamptz(3),
  expires_at timestamptz(3),
  finished_at timestamptz(3),
  -- when the mail server took the mail that says the export is ready
  mailed_at timestamptz(3),
  constraint export_jobs_status_check check (status in ('queued', 'running', 'ready', 'expired', 'failed')),
  constraint export_jobs_org_id_number_key unique (org_id, number),
  constraint export_jobs_format_check check (format in ('ndjson', 'csv', 'parquet')),
  constraint export_jobs_error_code_check check (
    error_code in ('CANCELED', 'BUILD_TIMEOUT', 'BUILD_FAILED', 'ARTIFACT_STORAGE_FAILED', 'ORGANIZATION_GONE')
  ),
  constraint export_jobs_failed_check check (
    (status <> 'failed') = (error_code is null) and (error_code is null) = (error_message is null)
  ),
  constraint export_jobs_finished_at_check check (
    (status <> 'queued' and status <> 'running') = (finished_at is not null)
  ),
  constraint export_jobs_artifact_check check (
    num_nulls(artifact_key, artifact_file_name, artifact_bytes, artifact_sha256, ready_at, expires_at) % 6 = 0
    and (status <> 'ready' or artifact_key is not null)
  ),
  constraint export_jobs_artifact_sha256_check check (artifact_sha256 ~ '^[0-9a-f]{64}$'),
  constraint export_jobs_mailed_at_check check (mailed_at is null or ready_at is not null),
  constraint export_jobs_progress_check check (
    least(attempt, projects_done, projects_total, rows_written, bytes_written) >= 0
  )
);

-- One active job an organization: whoever comes second is told of the first.
create unique index export_jobs_org_id_active_key on export_jobs (org_id) where status in ('queued', 'running');
create index export_jobs_org_id_created_at_id_idx on export_jobs (org_id, created_at, id);
-- What expires next, for the sweep; and what ended lately, for the metrics.
create index export_jobs_expires_at_id_idx on export_jobs (expires_at, id) where status = 'ready';
create index export_jobs_finished_at_idx on export_jobs (finished_at);
