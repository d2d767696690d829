-- A name never means a quarantined version, so one is first only if the line has no other.
drop function latest_definition_versions(uuid[]);
create function latest_definition_versions(line_ids uuid[])
returns table (
  definition_id uuid, is_public boolean, is_latest boolean, is_first boolean, is_latest_of_status boolean,
  is_public_latest boolean, is_public_latest_of_status boolean
)
language sql stable as $$
  select
    d.id,
    n.is_public,
    row_number() over (partition by d.line_id order by n.version desc) = 1,
    row_number() over (
      partition by d.line_id
      order by d.quarantined_at is not null, array_position(array['published', 'deprecated', 'draft'], d.status),
        n.version desc
    ) = 1,
    row_number() over (partition by d.line_id, d.status order by n.version desc) = 1,
    n.is_public and row_number() over (partition by d.line_id, n.is_public order by n.version desc) = 1,
    n.is_public and row_number() over (partition by d.line_id, n.is_public, d.status order by n.version desc) = 1
  from definitions as d
  cross join lateral (
    select
      definition_is_public(d.status, d.visibility) and d.quarantined_at is null as is_public,
      array[d.version_major, d.version_minor, d.version_patch] as version
  ) as n
  where d.line_id = any(line_ids) and d.status <> 'archived'
$$;

create or replace function refresh_definition_listings(line_ids uuid[], changed uuid[]) returns void
language plpgsql set jit = off as $$
begin
  delete from definition_listings where definition_id = any(changed);
  insert into definition_listings (
    definition_id, line_id, org_id, author_id, created_at, updated_at, is_public, is_latest, is_first,
    is_latest_of_status, is_public_latest, is_public_latest_of_status, is_fork, type, name, status, visibility, tier,
    domain, agent_type, authorship_type, tags, words
  )
  select
    d.id, d.line_id, d.org_id, d.author_id, d.created_at, d.updated_at, f.is_public, f.is_latest, f.is_first,
    f.is_latest_of_status, f.is_public_latest, f.is_public_latest_of_status, l.forked_from_id is not null, d.type,
    d.name, d.status, d.visibility, d.tier, d.domain, d.agent_type, d.authorship_type, d.tags,
    definition_search_vector(d.name, d.display_name, d.description)
  from latest_definition_versions(line_ids) as f
  join definitions as d on d.id = f.definition_id
  join definition_lines as l on l.id = d.line_id
  where d.id = any(changed);
  update definition_listings as v
  set is_latest = f.is_latest, is_first = f.is_first, is_latest_of_status = f.is_latest_of_status,
    is_public_latest = f.is_public_latest, is_public_latest_of_status = f.is_public_latest_of_status
  from latest_definition_versions(line_ids) as f
  where v.definition_id = f.definition_id
    and (v.is_latest, v.is_first, v.is_latest_of_status, v.is_public_latest, v.is_public_latest_of_status)
      is distinct from
      (f.is_latest, f.is_first, f.is_latest_of_status, f.is_public_latest, f.is_public_latest_of_status);
end
$$;

update definition_listings as v
set is_first = true
from latest_definition_versions(array(select id from definition_lines)) as f
where f.is_first and v.definition_id = f.definition_id;
