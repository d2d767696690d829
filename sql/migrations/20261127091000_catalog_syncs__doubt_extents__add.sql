-- How much each of the doubts would take, such as "20 of 40". Only a sync that finds the same is confirmed by it.
alter table catalog_syncs add column doubt_extents text[] not null default '{}';
