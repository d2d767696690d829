-- Why a webhook gets no request yet: one is in progress, or it pauses after failures. Both went into due_at, so that a new event
-- could not tell them from the next attempt of a delivery, which may be an hour away.
alter table webhooks
  add column claimed_until timestamptz(3),
  add column paused_until timestamptz(3);
