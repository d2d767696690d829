-- no transaction
-- For the sweep. A BRIN index serves it only until vacuum gives the pages of deleted rows to new ones: ranges keep their oldest time,
-- so every range matches. Entries of a transaction share their time, so this one has a twelfth of the size of the other index.
-- squawk-ignore ban-concurrent-index-creation-in-transaction
create index concurrently if not exists tracker_changes_age_idx on tracker_changes (at);
