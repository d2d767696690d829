-- Invitations to organizations. One is pending until it is accepted, revoked or expired, and only while its sender may
-- still invite (sql/accounts/invitations.ts). The link is in account_mails.
create table organization_invitations (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null,
  -- In lower case, as the unique index of users compares.
  email text not null,
  role text not null,
  invited_by uuid not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null default now() + interval '7 days',
  accepted_at timestamptz(3),
  -- By a member, or by a later invitation of the same address.
  revoked_at timestamptz(3),
  constraint organization_invitations_org_id_fkey foreign key (org_id) references organizations (id) on delete cascade,
  constraint organization_invitations_invited_by_fkey foreign key (invited_by) references users (id) on delete cascade,
  constraint organization_invitations_email_check
    check (email = lower(email) and email like '_%@_%' and char_length(email) <= 320),
  constraint organization_invitations_role_check check (role in ('owner', 'admin', 'publisher', 'viewer')),
  constraint organization_invitations_end_check check (accepted_at is null or revoked_at is null)
);

-- One open invitation for an address; expired ones stay open until the next invitation revokes them.
create unique index organization_invitations_open_key on organization_invitations (org_id, email)
  where accepted_at is null and revoked_at is null;
create index organization_invitations_email_idx on organization_invitations (email)
  where accepted_at is null and revoked_at is null;
create index organization_invitations_invited_by_idx on organization_invitations (invited_by, created_at);
create index organization_invitations_created_at_idx on organization_invitations (created_at);
