-- Whether a version is the one that members find first: what the name alone means to them, else the highest draft.
alter table definition_listings add column is_first boolean not null default false;
