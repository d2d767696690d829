create table organization_members (
  org_id uuid not null,
  user_id uuid not null,
  role text not null,
  joined_at timestamptz(3) not null default now(),
  constraint organization_members_pkey primary key (org_id, user_id),
  constraint organization_members_org_id_fkey foreign key (org_id) references organizations (id) on delete cascade,
  constraint organization_members_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
  constraint organization_members_role_check check (role in ('owner', 'admin', 'publisher', 'viewer'))
);

create index organization_members_user_id_idx on organization_members (user_id);
