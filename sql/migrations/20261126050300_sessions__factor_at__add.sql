-- When the session's user last proved themselves with a second factor in it; null for a password alone.
alter table sessions add column factor_at timestamptz(3);
