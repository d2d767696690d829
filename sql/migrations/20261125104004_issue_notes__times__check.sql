-- As 20261125104000_runs__times__check.sql.
alter table issue_notes add constraint issue_notes_created_at_check
  check (created_at >= '0001-01-01T00:00:00Z' and created_at < '10000-01-01T00:00:00Z') not valid;
