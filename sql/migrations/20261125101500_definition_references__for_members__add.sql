-- A reference to another organization that its author could not resolve at publication is for members of the author's
-- organization. Otherwise it would come to life with a definition that its author cannot see, and close a circle there.
alter table definition_references
  add column for_members boolean not null default false;

update definition_references as r
set for_members = true
from definitions as d
where d.id = r.definition_id and d.status <> 'draft' and r.target_org_id <> d.org_id
  and not exists (
    select
    from definition_lines as l
    join definitions as t on t.line_id = l.id
    where l.org_id = r.target_org_id and l.type = r.type and l.name = r.name and t.published_at <= d.published_at
      and (
        t.visibility <> 'private'
        or exists (
          select
          from organization_members as m
          where m.org_id = t.org_id and m.user_id = d.author_id
        )
      )
  );
