-- As 20261125104000_runs__times__check.sql.
alter table status_history add constraint status_history_changed_at_check
  check (changed_at >= '0001-01-01T00:00:00Z' and changed_at < '10000-01-01T00:00:00Z') not valid;
