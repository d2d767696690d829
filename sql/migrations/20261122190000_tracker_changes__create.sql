-- What happened to tracker rows after they were inserted, for increments (docs/increments.md): one entry for each change of
-- a row. A column of the row would need an index, and every update would then have to write all indexes of its table; this
-- costs a writer a tenth of that. Triggers write the entries, whatever the writer may do. `at` is the start of the
-- transaction, like created_at, so the cutoff of exports covers changes too (docs/watermark.md). A row that was inserted and
-- never changed has no entry. The job runner deletes entries after 91 days.
create table tracker_changes (
  project_id uuid not null,
  dataset text not null,
  at timestamptz(3) not null default now(),
  -- row: it was updated, or inserted with an older time; visibility: whether its children are exported may have changed;
  -- deletion: the row is gone, but for one that was inserted again
  kind text not null,
  id uuid not null,
  constraint tracker_changes_kind_check check (kind in ('row', 'visibility', 'deletion'))
);

create index tracker_changes_project_id_dataset_at_idx on tracker_changes (project_id, dataset, at) include (kind, id);
-- For the sweep. Entries come in order of their time, so this index is tiny and costs writers nothing.
create index tracker_changes_at_idx on tracker_changes using brin (at);

-- Statement triggers: an entry costs little if many rows change at once. They run as the owner, so that a writer needs no
-- right to the entries and cannot forge any.
create function log_tracker_updates() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into tracker_changes (project_id, dataset, at, kind, id)
  select project_id, tg_argv[0], now(), 'row', id
  from changed_rows;
  return null;
end
$$;

create function log_tracker_deletions() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into tracker_changes (project_id, dataset, at, kind, id)
  select project_id, tg_argv[0], now(), 'deletion', id
  from deleted_rows;
  return null;
end
$$;

-- Row triggers, for what is rare. tg_argv has the dataset, and whether an entry for children is needed too.
create function log_tracker_import() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if tg_argv[1] = 'parent' then
    insert into tracker_changes (project_id, dataset, at, kind, id)
    values
      (new.project_id, tg_argv[0], now(), 'row', new.id),
      (new.project_id, tg_argv[0], now(), 'visibility', new.id);
  else
    insert into tracker_changes (project_id, dataset, at, kind, id)
    values (new.project_id, tg_argv[0], now(), 'row', new.id);
  end if;
  return null;
end
$$;

create function log_tracker_visibility() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into tracker_changes (project_id, dataset, at, kind, id)
  values (new.project_id, tg_argv[0], now(), 'visibility', new.id);
  return null;
end
$$;

create function log_tracker_key() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into tracker_changes (project_id, dataset, at, kind, id)
  values (old.project_id, tg_argv[0], now(), 'deletion', old.id);
  return null;
end
$$;

create function reject_truncate() returns trigger
language plpgsql
as $$
begin
  raise exception using
    errcode = 'object_not_in_prerequisite_state',
    message = format('Cannot truncate "%s": increments of exports would not have the deleted rows', tg_table_name),
    hint = 'Delete the rows. If no copy is kept by increments: set ulr.backfill = ''on''.';
end
$$;

-- A trigger on another table would forge entries.
revoke execute on function log_tracker_updates(), log_tracker_deletions(), log_tracker_import(),
  log_tracker_visibility(), log_tracker_key() from public;

create trigger runs_log_insert_trigger after insert on runs for each row
when (new.created_at <> now()::timestamptz(3))
execute function log_tracker_import('runs', 'parent');
create trigger runs_log_update_trigger after update on runs referencing new table as changed_rows for each statement
execute function log_tracker_updates('runs');
create trigger runs_log_delete_trigger after delete on runs referencing old table as deleted_rows for each statement
execute function log_tracker_deletions('runs');
-- Copies have the row under its old key, or at its old place.
create trigger runs_log_key_trigger after update on runs for each row
when (new.id <> old.id or new.project_id <> old.project_id or new.created_at <> old.created_at)
execute function log_tracker_key('runs');
create trigger runs_log_truncate_trigger before truncate on runs for each statement
when (current_setting('ulr.backfill', true) is distinct from 'on')
execute function reject_truncate();
create trigger runs_log_visibility_trigger after update on runs for each row
when (
  (new.archived_at is null) <> (old.archived_at is null)
  or new.created_at <> old.created_at
)
execute function log_tracker_visibility('runs');

create trigger agent_snapshots_log_insert_trigger after insert on agent_snapshots for each row
when (new.created_at <> now()::timestamptz(3))
execute function log_tracker_import('agent-snapshots', 'child');
create trigger agent_snapshots_log_update_trigger after update on agent_snapshots referencing new table as changed_rows for each statement
execute function log_tracker_updates('agent-snapshots');
create trigger agent_snapshots_log_delete_trigger after delete on agent_snapshots referencing old table as deleted_rows for each statement
execute function log_tracker_deletions('agent-snapshots');
-- Copies have the row under its old key, or at its old place.
create trigger agent_snapshots_log_key_trigger after update on agent_snapshots for each row
when (new.id <> old.id or new.project_id <> old.project_id or new.created_at <> old.created_at)
execute function log_tracker_key('agent-snapshots');
create trigger agent_snapshots_log_truncate_trigger before truncate on agent_snapshots for each statement
when (current_setting('ulr.backfill', true) is distinct from 'on')
execute function reject_truncate();

create trigger issues_log_insert_trigger after insert on issues for each row
when (new.created_at <> now()::timestamptz(3))
execute function log_tracker_import('issues', 'parent');
create trigger issues_log_update_trigger after update on issues referencing new table as changed_rows for each statement
execute function log_tracker_updates('issues');
create trigger issues_log_delete_trigger after delete on issues referencing old table as deleted_rows for each statement
execute function log_tracker_deletions('issues');
-- Copies have the row under its old key, or at its old place.
create trigger issues_log_key_trigger after update on issues for each row
when (new.id <> old.id or new.project_id <> old.project_id or new.created_at <> old.created_at)
execute function log_tracker_key('issues');
create trigger issues_log_truncate_trigger before truncate on issues for each statement
when (current_setting('ulr.backfill', true) is distinct from 'on')
execute function reject_truncate();
create trigger issues_log_visibility_trigger after update on issues for each row
when (
  (new.deleted_at is null) <> (old.deleted_at is null)
  or (new.status in ('completed', 'wontfix', 'false-positive')) <> (old.status in ('completed', 'wontfix', 'false-positive'))
  or new.created_at <> old.created_at
)
execute function log_tracker_visibility('issues');

create trigger occurrences_log_insert_trigger after insert on occurrences for each row
when (new.created_at <> now()::timestamptz(3))
execute function log_tracker_import('occurrences', 'child');
create trigger occurrences_log_update_trigger after update on occurrences referencing new table as changed_rows for each statement
execute function log_tracker_updates('occurrences');
create trigger occurrences_log_delete_trigger after delete on occurrences referencing old table as deleted_rows for each statement
execute function log_tracker_deletions('occurrences');
-- Copies have the row under its old key, or at its old place.
create trigger occurrences_log_key_trigger after update on occurrences for each row
when (new.id <> old.id or new.project_id <> old.project_id or new.created_at <> old.created_at)
execute function log_tracker_key('occurrences');
create trigger occurrences_log_truncate_trigger before truncate on occurrences for each statement
when (current_setting('ulr.backfill', true) is distinct from 'on')
execute function reject_truncate();

create trigger issue_notes_log_insert_trigger after insert on issue_notes for each row
when (new.created_at <> now()::timestamptz(3))
execute function log_tracker_import('issue-notes', 'child');
create trigger issue_notes_log_update_trigger after update on issue_notes referencing new table as changed_rows for each statement
execute function log_tracker_updates('issue-notes');
create trigger issue_notes_log_delete_trigger after delete on issue_notes referencing old table as deleted_rows for each statement
execute function log_tracker_deletions('issue-notes');
-- Copies have the row under its old key, or at its old place.
create trigger issue_notes_log_key_trigger after update on issue_notes for each row
when (new.id <> old.id or new.project_id <> old.project_id or new.created_at <> old.created_at)
execute function log_tracker_key('issue-notes');
create trigger issue_notes_log_truncate_trigger before truncate on issue_notes for each statement
when (current_setting('ulr.backfill', true) is distinct from 'on')
execute function reject_truncate();

create trigger status_history_log_insert_trigger after insert on status_history for each row
when (new.changed_at <> now()::timestamptz(3))
execute function log_tracker_import('status-history', 'child');
create trigger status_history_log_update_trigger after update on status_history referencing new table as changed_rows for each statement
execute function log_tracker_updates('status-history');
create trigger status_history_log_delete_trigger after delete on status_history referencing old table as deleted_rows for each statement
execute function log_tracker_deletions('status-history');
-- Copies have the row under its old key, or at its old place.
create trigger status_history_log_key_trigger after update on status_history for each row
when (new.id <> old.id or new.project_id <> old.project_id or new.changed_at <> old.changed_at)
execute function log_tracker_key('status-history');
create trigger status_history_log_truncate_trigger before truncate on status_history for each statement
when (current_setting('ulr.backfill', true) is distinct from 'on')
execute function reject_truncate();

create trigger analysis_summaries_log_insert_trigger after insert on analysis_summaries for each row
when (new.created_at <> now()::timestamptz(3))
execute function log_tracker_import('analysis-summaries', 'child');
create trigger analysis_summaries_log_update_trigger after update on analysis_summaries referencing new table as changed_rows for each statement
execute function log_tracker_updates('analysis-summaries');
create trigger analysis_summaries_log_delete_trigger after delete on analysis_summaries referencing old table as deleted_rows for each statement
execute function log_tracker_deletions('analysis-summaries');
-- Copies have the row under its old key, or at its old place.
create trigger analysis_summaries_log_key_trigger after update on analysis_summaries for each row
when (new.id <> old.id or new.project_id <> old.project_id or new.created_at <> old.created_at)
execute function log_tracker_key('analysis-summaries');
create trigger analysis_summaries_log_truncate_trigger before truncate on analysis_summaries for each statement
when (current_setting('ulr.backfill', true) is distinct from 'on')
execute function reject_truncate();

create trigger analysis_records_log_insert_trigger after insert on analysis_records for each row
when (new.created_at <> now()::timestamptz(3))
execute function log_tracker_import('analysis-records', 'child');
create trigger analysis_records_log_update_trigger after update on analysis_records referencing new table as changed_rows for each statement
execute function log_tracker_updates('analysis-records');
create trigger analysis_records_log_delete_trigger after delete on analysis_records referencing old table as deleted_rows for each statement
execute function log_tracker_deletions('analysis-records');
-- Copies have the row under its old key, or at its old place.
create trigger analysis_records_log_key_trigger after update on analysis_records for each row
when (new.id <> old.id or new.project_id <> old.project_id or new.created_at <> old.created_at)
execute function log_tracker_key('analysis-records');
create trigger analysis_records_log_truncate_trigger before truncate on analysis_records for each statement
when (current_setting('ulr.backfill', true) is distinct from 'on')
execute function reject_truncate();
