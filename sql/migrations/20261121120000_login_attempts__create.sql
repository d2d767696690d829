-- How often people lately tried to sign in, from one address or to one account: a row for each of these.
create table login_attempts (
  -- sha-256 of kind and value: what people typed as their email is stored nowhere
  subject_hash bytea primary key,
  -- those of the last minute, perhaps some older ones, oldest first; refused ones are not among them
  attempted_at timestamptz(3)[] not null,
  last_attempt_at timestamptz(3) not null,
  constraint login_attempts_subject_hash_check check (octet_length(subject_hash) = 32)
);

create index login_attempts_last_attempt_at_idx on login_attempts (last_attempt_at);
