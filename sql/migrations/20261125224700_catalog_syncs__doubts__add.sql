alter table catalog_syncs
  -- models whose prices wait to be taken
  add column held int not null default 0,
  -- why the document as a whole was refused, in words that the next sync compares: "gone", "gone acme", "unpriced"
  add column doubts text[] not null default '{}',
  -- what an operator said about these doubts
  add column decision text constraint catalog_syncs_decision_check check (decision in ('accepted', 'rejected'));
