-- Whether sessions see the organization only once they are proven with a second factor.
alter table organizations add column require_second_factor boolean not null default false;
