-- Idempotency-Key headers of the last 24 hours, and what their requests responded.
create table idempotency_keys (
  -- the user's id, or the network address of an anonymous caller
  caller text not null,
  key text not null,
  -- SHA-256 of method, URL, organization, body and what the credential may do
  fingerprint bytea not null,
  -- the request that carries it out: after a crash, the retry that took over
  request_id uuid not null,
  created_at timestamptz(3) not null default now(),
  -- until then, the request counts as running
  locked_until timestamptz(3) not null,
  -- set in the transaction of the write, with what it made or changed
  applied_at timestamptz(3),
  subject_type text,
  subject_id text,
  -- the response; null while the request runs, and where the response is not kept
  status int,
  headers jsonb,
  body text,
  -- the organization that the response is about, and the caller's role there at that time
  org_id uuid,
  org_role text,
  constraint idempotency_keys_pkey primary key (caller, key),
  constraint idempotency_keys_key_check check (key ~ '^[ -~]{1,128}$'),
  constraint idempotency_keys_fingerprint_check check (octet_length(fingerprint) = 32),
  constraint idempotency_keys_applied_check check (num_nulls(applied_at, subject_type, subject_id) % 3 = 0),
  constraint idempotency_keys_response_check check (num_nulls(status, headers, body) % 3 = 0)
);

create index idempotency_keys_created_at_idx on idempotency_keys (created_at);
-- What a caller's large responses take together.
create index idempotency_keys_large_idx on idempotency_keys (caller) where octet_length(body) > 16384;
