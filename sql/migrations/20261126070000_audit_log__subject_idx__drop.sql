-- no transaction
drop index concurrently if exists audit_log_subject_idx;
