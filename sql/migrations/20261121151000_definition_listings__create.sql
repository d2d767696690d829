-- What lists and searches of definitions read: a bitmap index, kept in tables (ARCHITECTURE.md tells why).
create extension if not exists pg_trgm;
create extension if not exists fuzzystrmatch;

-- A row per version that anybody may find in a list, which all are that are not archived. The slot is its bit.
create table definition_listings (
  slot int not null,
  definition_id uuid not null,
  line_id uuid not null,
  -- of the version, repeated to be sorted by; names are ASCII
  name text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint definition_listings_pkey primary key (slot),
  constraint definition_listings_definition_id_key unique (definition_id),
  constraint definition_listings_slot_check check (slot >= 0)
);

create index definition_listings_line_id_idx on definition_listings (line_id, definition_id) include (slot);
create index definition_listings_name_idx on definition_listings (name, definition_id) include (slot);
create index definition_listings_created_at_idx on definition_listings (created_at, definition_id) include (slot);
create index definition_listings_updated_at_idx on definition_listings (updated_at, definition_id) include (slot);

-- Lists are sorted by these two of the line. The table is as new as this one: nobody writes to it yet.
-- squawk-ignore require-concurrent-index-creation
create index definition_lines_execution_count_idx on definition_lines (execution_count, id);
-- squawk-ignore require-concurrent-index-creation
create index definition_lines_unique_execution_count_idx on definition_lines (unique_execution_count, id);

-- What is true of a slot: facets (domain=software), who sees it (latest=public), words (name~review). Apart from the
-- listings, which are walked through and have to be narrow.
create table definition_listing_terms (
  slot int not null,
  terms text[] not null,
  constraint definition_listing_terms_pkey primary key (slot)
);

-- The other way round: the slots that a term is true of, 32,768 bits a row; bit n of chunk c is slot 32768 c + n.
create table definition_postings (
  term text collate "C" not null,
  chunk int not null,
  bits bit(32768) not null,
  constraint definition_postings_pkey primary key (term, chunk)
);

-- Sparse bits compress to some 80 bytes; dense ones stay in the row, which is read faster than the TOAST table.
alter table definition_postings alter column bits set storage main;

-- Every word that a posting is about, to be found by its stem, its beginning, or with a slip in it.
create table definition_vocabulary (
  word text collate "C" not null,
  stem text collate "C" not null,
  constraint definition_vocabulary_pkey primary key (word)
);

create index definition_vocabulary_stem_idx on definition_vocabulary (stem);
create index definition_vocabulary_word_trgm_idx on definition_vocabulary using gin (word gin_trgm_ops);

-- Lines whose listings the transaction has to bring up to date before it ends; empty to all others.
create table definition_listing_queue (
  id bigint generated always as identity,
  line_ids uuid[] not null,
  constraint definition_listing_queue_pkey primary key (id)
);
