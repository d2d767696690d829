-- Lists that are sorted: terms that say where a listing stands in an order, and how words of names begin.

-- How many binary digits a count has: the lines whose counts have as many stand together in the order of the counts.
create function count_width(count bigint) returns text language sql immutable parallel safe as $$
  select lpad(length(ltrim(count::bit(64)::text, '0'))::text, 2, '0')
$$;

-- Where a version stands in each order: the buckets that it falls into, larger ones first. A term is the sort and the
-- depth, "^", and how the sort keys in the bucket begin; those of deeper buckets begin as the one they are in.
create function definition_sort_terms(
  name text, created_at timestamptz, updated_at timestamptz, execution_count bigint, unique_execution_count bigint
) returns text[] language sql stable parallel safe as $$
  select array[
    'name1^' || left(name, 1),
    'name2^' || left(name, 2),
    'name3^' || left(name, 4),
    'createdAt1^' || to_char(created_at at time zone 'UTC', 'YYYY-MM'),
    'createdAt2^' || to_char(created_at at time zone 'UTC', 'YYYY-MM-DD'),
    'updatedAt1^' || to_char(updated_at at time zone 'UTC', 'YYYY-MM'),
    'updatedAt2^' || to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD'),
    'executionCount1^' || count_width(execution_count),
    'uniqueExecutionCount1^' || count_width(unique_execution_count)
  ]
$$;

-- The words of a version as terms: in its name, in name or display name, anywhere, and how words begin in each of
-- them. Of the description, its first 20,000 characters, without stop words.
create or replace function definition_word_terms(name text, display_name text, description text)
returns table (term text)
language sql stable parallel safe as $$
  with places as (
    select w.word, 1 as place from definition_words(name) as w
    union all
    select w.word, 2 from definition_words(display_name) as w
    union all
    select w.word, 3 from definition_words(left(description, 20000)) as w where not w.is_stop_word
  ), words as (
    select p.word, min(p.place) as place from places as p group by p.word
  ), beginnings as (
    select left(w.word, letters) as beginning, min(w.place) as place
    from words as w
    cross join generate_series(1, 3) as letters
    group by left(w.word, letters)
  )
  select 'name~' || w.word from words as w where w.place = 1
  union all
  select 'title~' || w.word from words as w where w.place <= 2
  union all
  select 'text~' || w.word from words as w
  union all
  select 'nameStart~' || b.beginning from beginnings as b where b.place = 1
  union all
  select 'titleStart~' || b.beginning from beginnings as b where b.place <= 2
  union all
  select 'start~' || b.beginning from beginnings as b
$$;

-- Brings the listings of lines up to date with their versions. One transaction at a time, as they change the same
-- bits; it is called when a transaction is about to end, so that the next one waits for the commit only.
-- The planner cannot know how few terms there are and would compile code for a second; where there are many, of a bulk
-- of lines, their bits fit in this memory.
create or replace function refresh_definition_listings(changed uuid[]) returns void language plpgsql
set jit = off
set work_mem = '64MB'
as $$
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
      || definition_sort_terms(d.name, d.created_at, d.updated_at, l.execution_count, l.unique_execution_count)
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
  ), blocks as (
    -- 1,024 bits at a time first: a chunk is 32 times as much to copy for each bit
    select f.term, f.slot >> 10 as block, bit_or(set_bit(0::bit(1024), f.slot & 1023, 1)) as bits
    from flips as f
    group by f.term, f.slot >> 10
  ), flipped as (
    insert into definition_postings as p (term, chunk, bits)
    select b.term, b.block >> 5, bit_or(b.bits::bit(32768) >> ((b.block & 31) << 10))
    from blocks as b
    group by b.term, b.block >> 5
    on conflict (term, chunk) do update set bits = p.bits # excluded.bits
  ), learned as (
    insert into definition_vocabulary (word, stem)
    select w.word, w.stem
    from (select distinct substr(f.term, 6) as word from flips as f where f.term like 'text~%') as f
    cross join definition_words(f.word) as w
    where not exists (select from definition_vocabulary as v where v.word = f.word)
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

-- A line moves on in the orders of its counts only when one of them gets another binary digit.
create trigger definition_lines_move_listings
  after update of execution_count, unique_execution_count on definition_lines
  for each row when (
    count_width(old.execution_count) <> count_width(new.execution_count)
    or count_width(old.unique_execution_count) <> count_width(new.unique_execution_count)
  )
  execute function queue_line_listings();

-- What there is already; a part at a time, which bounds what is held in memory.
do $$
declare
  part uuid[];
begin
  for part in
    select array_agg(id)
    from (select id, row_number() over (order by created_at, id) / 2000 as number from definition_lines) as line
    group by number
    order by number
  loop
    perform refresh_definition_listings(part);
  end loop;
end
$$;
