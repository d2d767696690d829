-- A search finds every word of a description, where it found the first 200. 200 words are 599 characters or more.
create or replace function definition_search_vector(name text, display_name text, description text) returns tsvector
language sql immutable parallel safe as $$
  with titles as (
    select '@' as mark, name as title
    union all
    select '#', left(display_name, 200)
  ), title_words as (
    select t.mark, unnest(array[w.word, w.stem]) as lexeme
    from titles as t
    cross join lateral definition_words(t.title) as w
  ), description_words as (
    select w.word, w.stem
    from definition_words(left(description, 4000)) as w
    where not w.is_stop_word
  )
  select array_to_tsvector(array(
    select w.mark || w.lexeme from title_words as w
    union
    select w.lexeme from title_words as w
    union
    select '^' || left(w.lexeme, 1) from title_words as w
    union
    select unnest(array[w.word, w.stem, '^' || left(w.word, 1)]) from description_words as w
    union
    select '*' || substr(found.text, start, 30)
    from titles as t
    cross join lateral (select definition_search_text(t.title) as text) as found
    cross join generate_series(2, length(found.text) - 2) as start
    where substr(found.text, start - 1, 1) <> '-' and substr(found.text, start, 1) <> '-'
  ))
$$;

update definition_listings as v
set words = definition_search_vector(d.name, d.display_name, d.description)
from definitions as d
where d.id = v.definition_id and length(d.description) >= 599;
