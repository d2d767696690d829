-- The tracker writes projects, and knows owners that this service does not.
alter table projects drop constraint projects_owner_id_fkey;

-- squawk-ignore require-concurrent-index-deletion
drop index projects_owner_id_idx;
