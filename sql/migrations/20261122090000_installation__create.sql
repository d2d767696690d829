create table installation (
  -- There is one row, which the first process makes.
  is_only boolean not null default true,
  -- What the artifact store's marker names.
  id uuid not null default gen_random_uuid(),
  -- Where the row was made. A copy of the database is elsewhere, and gets an id of its own.
  system_identifier bigint not null,
  database_oid bigint not null,
  -- The database was found elsewhere, and no operator has said since that it replaces the original. Delivers to no webhook.
  is_copy boolean not null default false,
  created_at timestamptz(3) not null default now(),
  constraint installation_is_only_pkey primary key (is_only),
  constraint installation_is_only_check check (is_only)
);
