-- What a replica is asked for: one that shows a mark shows everything that was committed before it.
create table replica_marks (
  id uuid not null default gen_random_uuid(),
  marked_at timestamptz(3) not null default now(),
  constraint replica_marks_pkey primary key (id)
);

create index replica_marks_marked_at_idx on replica_marks (marked_at);
