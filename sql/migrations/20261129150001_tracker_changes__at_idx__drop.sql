-- no transaction
drop index concurrently if exists tracker_changes_at_idx;
