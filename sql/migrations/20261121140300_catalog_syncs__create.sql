create table catalog_syncs (
  id bigint generated always as identity primary key,
  started_at timestamptz(3) not null,
  finished_at timestamptz(3) not null,
  -- a URL without credentials and query, a file's path, or "bundled"
  source text not null,
  -- of the source's response, for the next conditional request
  etag text,
  -- the newest date in the source's data, which says how old it is; null without dates
  data_date date,
  outcome text not null,
  inserted int not null default 0,
  updated int not null default 0,
  gone int not null default 0,
  unchanged int not null default 0,
  skipped int not null default 0,
  -- why rows were skipped
  notes text[] not null default '{}',
  error text,
  constraint catalog_syncs_outcome_check check (outcome in ('changed', 'unchanged', 'refused', 'failed')),
  constraint catalog_syncs_error_check check ((outcome <> 'refused' and outcome <> 'failed') = (error is null)),
  constraint catalog_syncs_counts_check check (least(inserted, updated, gone, unchanged, skipped) >= 0),
  constraint catalog_syncs_finished_at_check check (finished_at >= started_at)
);

-- For the last good run.
create index catalog_syncs_outcome_id_idx on catalog_syncs (outcome, id);
