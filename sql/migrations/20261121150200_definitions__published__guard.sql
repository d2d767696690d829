-- What was published stays what it was, whoever asks: only its state moves on, and its rendering may be made anew.
create function refuse_change_of_published_definition() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'Cannot delete definition %/%@%: it is %', old.type, old.name, old.version, old.status
      using errcode = 'restrict_violation', constraint = 'definitions_published_guard', table = 'definitions';
  end if;
  if (old.status, new.status) not in (('published', 'deprecated'), ('deprecated', 'archived'))
    and old.status <> new.status
    or (
      new.id, new.line_id, new.org_id, new.type, new.name, new.version, new.visibility, new.tier, new.yaml, new.hash,
      new.display_name, new.description, new.domain, new.subdomain, new.agent_type, new.author, new.author_id,
      new.provenance, new.tags, new.change_summary, new.change_type, new.created_at, new.published_at
    ) is distinct from (
      old.id, old.line_id, old.org_id, old.type, old.name, old.version, old.visibility, old.tier, old.yaml, old.hash,
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

create trigger definitions_published_guard
  before update or delete on definitions
  for each row when (old.status <> 'draft')
  execute function refuse_change_of_published_definition();
