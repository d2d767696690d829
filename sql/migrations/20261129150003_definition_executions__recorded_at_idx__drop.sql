-- no transaction
drop index concurrently if exists definition_executions_recorded_at_idx;
