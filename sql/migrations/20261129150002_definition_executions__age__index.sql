-- no transaction
-- For the sweep, as in tracker_changes.
-- squawk-ignore ban-concurrent-index-creation-in-transaction
create index concurrently if not exists definition_executions_age_idx on definition_executions (recorded_at);
