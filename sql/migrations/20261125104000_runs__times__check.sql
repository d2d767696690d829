-- Exports write years of four digits, and readers know no others. Rows that are there already are not looked at, so that no
-- table is locked for long: `bun run migrate` validates the checks afterwards, and names the rows that are in the way. One
-- statement for all checks, which Citus accepts only one by one.
do $$
begin
  alter table runs add constraint runs_timestamp_check
    check ("timestamp" >= '0001-01-01T00:00:00Z' and "timestamp" < '10000-01-01T00:00:00Z') not valid;
  alter table runs add constraint runs_archived_at_check
    check (archived_at >= '0001-01-01T00:00:00Z' and archived_at < '10000-01-01T00:00:00Z') not valid;
  alter table runs add constraint runs_created_at_check
    check (created_at >= '0001-01-01T00:00:00Z' and created_at < '10000-01-01T00:00:00Z') not valid;
  alter table runs add constraint runs_updated_at_check
    check (updated_at >= '0001-01-01T00:00:00Z' and updated_at < '10000-01-01T00:00:00Z') not valid;
end
$$;
