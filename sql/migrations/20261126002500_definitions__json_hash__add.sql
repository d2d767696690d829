-- `hash` became the digest of canonical JSON. Releases before wrote that of a YAML text and do not write this column, so where it
-- differs from `hash`, `migrate` computes both again.
alter table definitions add column json_hash text;

-- As before, but a hash of an older release may be replaced, once, together with nothing else that is guarded.
create or replace function refuse_change_of_published_definition() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'Cannot delete definition %/%@%: it is %', old.type, old.name, old.version, old.status
      using errcode = 'restrict_violation', constraint = 'definitions_published_guard', table = 'definitions';
  end if;
  if (old.status, new.status) not in (('published', 'deprecated'), ('deprecated', 'archived'))
    and old.status <> new.status
    or (new.hash, new.json_hash) is distinct from (old.hash, old.json_hash)
    and (old.json_hash is not distinct from old.hash or new.json_hash is distinct from new.hash)
    or (
      new.id, new.line_id, new.org_id, new.type, new.name, new.version, new.visibility, new.tier, new.yaml,
      new.display_name, new.description, new.domain, new.subdomain, new.agent_type, new.author, new.author_id,
      new.provenance, new.tags, new.change_summary, new.change_type, new.created_at, new.published_at
    ) is distinct from (
      old.id, old.line_id, old.org_id, old.type, old.name, old.version, old.visibility, old.tier, old.yaml,
      old.display_name, old.description, old.domain, old.subdomain, old.agent_type, old.author, old.author_id,
      old.provenance, old.tags, old.change_summary, old.change_type, old.created_at, old.published_at
    )
  then
    raise exception 'Cannot change definition %/%@%: it is %', old.type, old.name, old.version, old.status
      using errcode = 'restrict_violation', constraint = 'definitions_published_guard', table = 'definitions';
  end if;
  return new;
end
$$;

-- As `list_changed_definitions`, for updates: lists do not show hashes, so a new one costs no new listing and waits for no writer of
-- the line.
create function list_updated_definitions() returns trigger language plpgsql as $$
declare
  ids uuid[];
  line_ids uuid[];
begin
  select array_agg(c.id), array_agg(distinct c.line_id)
  into ids, line_ids
  from changed as c
  join former as f on f.id = c.id
  where c.json_hash is not distinct from f.json_hash
    or (
      c.line_id, c.org_id, c.author_id, c.type, c.name, c.version, c.status, c.visibility, c.tier, c.domain,
      c.agent_type, c.authorship_type, c.display_name, c.description, c.tags, c.quarantined_at, c.created_at,
      c.updated_at
    ) is distinct from (
      f.line_id, f.org_id, f.author_id, f.type, f.name, f.version, f.status, f.visibility, f.tier, f.domain,
      f.agent_type, f.authorship_type, f.display_name, f.description, f.tags, f.quarantined_at, f.created_at,
      f.updated_at
    );
  if ids is null then
    return null;
  end if;
  perform from definition_lines where id = any(line_ids) order by id for no key update;
  perform refresh_definition_listings(line_ids, ids);
  return null;
end
$$;

drop trigger definitions_update_listings on definitions;
create trigger definitions_update_listings
  after update on definitions referencing old table as former new table as changed
  for each statement execute function list_updated_definitions();
