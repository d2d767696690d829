-- no transaction
-- For the limit of an IPv6 /48, whose networks begin alike.
-- squawk-ignore ban-concurrent-index-creation-in-transaction
create index concurrently if not exists account_mails_network_prefix_idx
  on account_mails (network text_pattern_ops, created_at) where network is not null;
