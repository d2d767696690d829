-- Grants the role `ulr_app`, if it exists, what the service needs at run time: access to the rows of all tables, but no
-- changes to tables. `migrate` runs this last, as the owner of the tables. The processes connect as that role or as a member
-- of it. If one role does everything, there is nothing to grant.

do $$
declare
  wanted record;
begin
  if to_regrole('ulr_app') is null then
    return;
  end if;

  if not has_schema_privilege('ulr_app', 'public', 'usage') then
    grant usage on schema public to ulr_app;
  end if;

  -- Default privileges for tables and sequences that this role, the owner, creates later.
  if has_schema_privilege('public', 'create') then
    alter default privileges in schema public grant select, insert, update, delete on tables to ulr_app;
    alter default privileges in schema public grant usage, select, update on sequences to ulr_app;
  end if;
  if has_schema_privilege('pgboss', 'create') then
    grant usage on schema pgboss to ulr_app;
    alter default privileges in schema pgboss grant select, insert, update, delete on tables to ulr_app;
    alter default privileges in schema pgboss grant usage, select, update on sequences to ulr_app;
  end if;

  -- Only if grants differ: every grant writes to the system catalog.
  for wanted in
    select
      c.oid::regclass as name,
      case when c.relkind = 'S' then 'sequence' else 'table' end as kind,
      privileges.list,
      (
        select coalesce(array_agg(a.privilege_type order by a.privilege_type), '{}')
        from aclexplode(c.relacl) a
        where a.grantee = 'ulr_app'::regrole
      ) as granted,
      -- Grants of single columns are not among those of the table.
      c.relkind <> 'S' and 'UPDATE' <> all (privileges.list) and has_any_column_privilege('ulr_app', c.oid, 'update')
        as updates_columns
    from pg_class c,
      lateral (
        select
          case
            -- Entries are only added, with the columns that are granted below.
            when c.relname = 'audit_log' then array['SELECT']
            when c.oid = pg_get_serial_sequence('audit_log', 'id')::regclass then array[]::text[]
            -- Only functions of the owner move the ends of the chain.
            when c.relname = 'audit_chain' then array['SELECT']
            -- Triggers of the owner write the entries.
            when c.relname = 'tracker_changes' then array['DELETE', 'SELECT']
            -- Only migrations record migrations.
            when c.relname in ('schema_migrations', 'schema_compatibility') then array['SELECT']
            when c.relkind = 'S' then array['SELECT', 'UPDATE', 'USAGE']
            else array['DELETE', 'INSERT', 'SELECT', 'UPDATE']
          end as list
      ) as privileges
    where c.relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)
      and c.relkind in ('r', 'p', 'v', 'S')
      and pg_get_userbyid(c.relowner) = current_user
      and current_user <> 'ulr_app'
  loop
    if wanted.granted is distinct from wanted.list or wanted.updates_columns then
      execute format('revoke all on %s %s from ulr_app', wanted.kind, wanted.name);
      if cardinality(wanted.list) > 0 then
        execute format('grant %s on %s %s to ulr_app', array_to_string(wanted.list, ', '), wanted.kind, wanted.name);
      end if;
    end if;
  end loop;

  -- The database alone sets the id, time and chain position of an audit entry.
  if current_user <> 'ulr_app'
    and (select pg_get_userbyid(c.relowner) = current_user from pg_class c where c.oid = 'audit_log'::regclass)
    and not has_column_privilege('ulr_app', 'audit_log', 'action', 'insert')
  then
    grant insert (
      actor_type, actor_user_id, credential_id, action, subject_type, subject_id, org_id, request_id,
      client_request_id, address, user_agent, details
    ) on audit_log to ulr_app;
  end if;
end $$;
