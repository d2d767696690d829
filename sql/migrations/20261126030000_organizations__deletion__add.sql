-- Who created an organization, for the quota of a user, and when it ends. Its row stays when it is deleted: published
-- definitions keep their organization, and its slug is never given to another one.
alter table organizations
  -- null if an operator created it, and for personal organizations
  add column created_by uuid
    -- Not checked, because the new column is null everywhere.
    -- squawk-ignore adding-foreign-key-constraint
    constraint organizations_created_by_fkey references users (id) on delete set null,
  -- an owner deleted it; until then it works on, and an owner can restore it
  add column deletes_at timestamptz(3)
    constraint organizations_deletes_at_check check (deletes_at is null or not is_personal),
  -- it is gone: no members, keys or projects are left
  add column deleted_at timestamptz(3)
    constraint organizations_deleted_at_check check (deleted_at is null or deletes_at is not null);
