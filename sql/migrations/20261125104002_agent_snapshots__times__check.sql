-- As 20261125104000_runs__times__check.sql.
do $$
begin
  alter table agent_snapshots add constraint agent_snapshots_created_at_check
    check (created_at >= '0001-01-01T00:00:00Z' and created_at < '10000-01-01T00:00:00Z') not valid;
  alter table agent_snapshots add constraint agent_snapshots_updated_at_check
    check (updated_at >= '0001-01-01T00:00:00Z' and updated_at < '10000-01-01T00:00:00Z') not valid;
end
$$;
