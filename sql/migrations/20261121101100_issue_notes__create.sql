create table issue_notes (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  issue_id uuid not null,
  content text not null,
  note_type text not null,
  created_by text,
  created_at timestamptz(3) not null default now(),
  constraint issue_notes_pkey primary key (project_id, id),
  constraint issue_notes_project_id_issue_id_fkey
    foreign key (project_id, issue_id) references issues (project_id, id),
  constraint issue_notes_content_check check (char_length(content) between 1 and 10000),
  constraint issue_notes_note_type_check check (note_type in ('context', 'resolution', 'blocker'))
);

create index issue_notes_project_id_created_at_id_idx on issue_notes (project_id, created_at, id);
create index issue_notes_project_id_issue_id_idx on issue_notes (project_id, issue_id, created_at, id);
