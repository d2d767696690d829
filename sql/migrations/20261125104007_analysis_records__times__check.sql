-- As 20261125104000_runs__times__check.sql.
do $$
begin
  alter table analysis_records add constraint analysis_records_superseded_at_check
    check (superseded_at >= '0001-01-01T00:00:00Z' and superseded_at < '10000-01-01T00:00:00Z') not valid;
  alter table analysis_records add constraint analysis_records_created_at_check
    check (created_at >= '0001-01-01T00:00:00Z' and created_at < '10000-01-01T00:00:00Z') not valid;
end
$$;
