-- The words of a text: whatever stands between ASCII and general punctuation, in lower case, at most 60 characters.
create function definition_words(source text) returns table (word text, stem text, is_stop_word boolean)
language sql stable parallel safe as $$
  select found.word, coalesce(lexized.stems[1], found.word), coalesce(cardinality(lexized.stems) = 0, false)
  from (
    select distinct left(piece, 60) as word
    from regexp_split_to_table(lower(source), '[\u0001-\u002f\u003a-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+') as piece
    where piece <> ''
  ) as found
  -- no stem at all is how the dictionary tells a stop word
  cross join lateral (select ts_lexize('pg_catalog.english_stem', found.word) as stems) as lexized
$$;

-- The words of a version as terms: in its name, in name or display name, anywhere, and how words begin. Of the
-- description, its first 20,000 characters, without stop words.
create function definition_word_terms(name text, display_name text, description text) returns table (term text)
language sql stable parallel safe as $$
  with places as (
    select w.word, 1 as place from definition_words(name) as w
    union all
    select w.word, 2 from definition_words(display_name) as w
    union all
    select w.word, 3 from definition_words(left(description, 20000)) as w where not w.is_stop_word
  ), words as (
    select p.word, min(p.place) as place from places as p group by p.word
  )
  select 'name~' || w.word from words as w where w.place = 1
  union all
  select 'title~' || w.word from words as w where w.place <= 2
  union all
  select 'text~' || w.word from words as w
  union
  select 'start~' || left(w.word, letters) from words as w cross join generate_series(1, 3) as letters
$$;

-- Brings the listings of lines up to date with their versions. One transaction at a time, as they change the same
-- bits; it is called when a transaction is about to end, so that the next one waits for the commit only.
create function refresh_definition_listings(changed uuid[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('definition_listings', 0));
  -- versions that the list shows, with what is true of them now
  with versions as (
    select
      d.id,
      d.line_id,
      d.name,
      d.created_at,
      d.updated_at,
      d.status,
      d.status <> 'draft' and d.visibility = 'public' as is_public,
      array[d.version_major, d.version_minor, d.version_patch] as version,
      array[
        'org=' || d.org_id,
        'type=' || d.type,
        'status=' || d.status,
        'visibility=' || d.visibility,
        'tier=' || d.tier,
        'domain=' || d.domain,
        'agentType=' || d.agent_type,
        'authorshipType=' || d.authorship_type,
        'authorId=' || d.author_id,
        'isFork=' || (l.forked_from_id is not null),
        'exact=' || d.name
      ]
      -- a tag may be longer than an index takes
      || array(select distinct 'tag=' || md5(tag) from unnest(d.tags) as tag)
      || array(select w.term from definition_word_terms(d.name, d.display_name, d.description) as w) as terms
    from unnest(changed) as line_id
    join definition_lines as l on l.id = line_id
    join definitions as d on d.line_id = l.id
    where d.status <> 'archived'
  ), fresh as materialized (
    select
      v.id as definition_id,
      v.line_id,
      v.name,
      v.created_at,
      v.updated_at,
      array_remove(
        v.terms || array[
          'listed=member',
          case when row_number() over (partition by v.line_id order by v.version desc) = 1
            then 'latest=member' end,
          case when row_number() over (partition by v.line_id, v.status order by v.version desc) = 1
            then 'latest=member:' || v.status end,
          case when v.is_public then 'listed=public' end,
          case when v.is_public
            and row_number() over (partition by v.line_id, v.is_public order by v.version desc) = 1
            then 'latest=public' end,
          case when v.is_public
            and row_number() over (partition by v.line_id, v.is_public, v.status order by v.version desc) = 1
            then 'latest=public:' || v.status end
        ],
        null
      ) as terms
    from versions as v
  ), placed as materialized (
    select
      f.*,
      coalesce(
        v.slot,
        (select coalesce(max(slot), -1) from definition_listings)
          + row_number() over (partition by v.slot is null order by f.created_at, f.definition_id)
      )::int as slot
    from fresh as f
    left join definition_listings as v using (definition_id)
  ), gone as (
    delete from definition_listings as v
    where v.line_id = any(changed) and not exists (select from placed as p where p.slot = v.slot)
    returning v.slot
  ), known as materialized (
    select t.slot, t.terms
    from definition_listing_terms as t
    where t.slot in (select slot from placed union all select slot from gone)
  ), flips as materialized (
    (
      select p.slot, term from placed as p cross join unnest(p.terms) as term
      except
      select k.slot, term from known as k cross join unnest(k.terms) as term
    )
    union all
    (
      select k.slot, term from known as k cross join unnest(k.terms) as term
      except
      select p.slot, term from placed as p cross join unnest(p.terms) as term
    )
  ), flipped as (
    insert into definition_postings as p (term, chunk, bits)
    select f.term, f.slot >> 15, bit_or(set_bit(0::bit(32768), f.slot & 32767, 1))
    from flips as f
    group by f.term, f.slot >> 15
    on conflict (term, chunk) do update set bits = p.bits # excluded.bits
  ), learned as (
    insert into definition_vocabulary (word, stem)
    select w.word, w.stem
    from (select distinct substr(f.term, 6) as word from flips as f where f.term like 'text~%') as f
    cross join definition_words(f.word) as w
    on conflict (word) do nothing
  ), listed as (
    insert into definition_listings as v (slot, definition_id, line_id, name, created_at, updated_at)
    select slot, definition_id, line_id, name, created_at, updated_at
    from placed
    on conflict (slot) do update
    set created_at = excluded.created_at, updated_at = excluded.updated_at
    where (v.created_at, v.updated_at) <> (excluded.created_at, excluded.updated_at)
  ), forgotten as (
    delete from definition_listing_terms as t using gone where t.slot = gone.slot
  )
  insert into definition_listing_terms as t (slot, terms)
  select slot, terms
  from placed
  on conflict (slot) do update set terms = excluded.terms where t.terms <> excluded.terms;
end
$$;

create function queue_definition_listings() returns trigger language plpgsql as $$
begin
  insert into definition_listing_queue (line_ids)
  select array_agg(distinct line_id)
  from changed
  having count(*) > 0;
  return null;
end
$$;

create trigger definitions_insert_listings
  after insert on definitions referencing new table as changed
  for each statement execute function queue_definition_listings();

create trigger definitions_update_listings
  after update on definitions referencing new table as changed
  for each statement execute function queue_definition_listings();

create trigger definitions_delete_listings
  after delete on definitions referencing old table as changed
  for each statement execute function queue_definition_listings();

create function queue_line_listings() returns trigger language plpgsql as $$
begin
  insert into definition_listing_queue (line_ids) values (array[new.id]);
  return null;
end
$$;

create trigger definition_lines_update_listings
  after update of forked_from_id on definition_lines
  for each row when (old.forked_from_id is distinct from new.forked_from_id)
  execute function queue_line_listings();

create function refresh_queued_listings() returns trigger language plpgsql as $$
begin
  perform refresh_definition_listings(new.line_ids);
  delete from definition_listing_queue where id = new.id;
  return null;
end
$$;

create constraint trigger definition_listing_queue_refresh
  after insert on definition_listing_queue
  deferrable initially deferred
  for each row execute function refresh_queued_listings();

-- What there is already.
select refresh_definition_listings(array(select id from definition_lines));
