-- As 20261125104000_runs__times__check.sql.
do $$
begin
  alter table issues add constraint issues_resolved_at_check
    check (resolved_at >= '0001-01-01T00:00:00Z' and resolved_at < '10000-01-01T00:00:00Z') not valid;
  alter table issues add constraint issues_deleted_at_check
    check (deleted_at >= '0001-01-01T00:00:00Z' and deleted_at < '10000-01-01T00:00:00Z') not valid;
  alter table issues add constraint issues_created_at_check
    check (created_at >= '0001-01-01T00:00:00Z' and created_at < '10000-01-01T00:00:00Z') not valid;
  alter table issues add constraint issues_updated_at_check
    check (updated_at >= '0001-01-01T00:00:00Z' and updated_at < '10000-01-01T00:00:00Z') not valid;
end
$$;
