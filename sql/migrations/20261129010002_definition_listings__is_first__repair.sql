-- no transaction
-- The fill missed lines that were written at the same time by functions without is_first. The lock waits for those writers and is
-- released at once. Then each wrong line is corrected in a transaction of its own.
do $$
declare
  wrong uuid;
begin
  set local lock_timeout = '2s';
  lock table definition_listings in share row exclusive mode;
  commit;
  for wrong in
    select distinct v.line_id
    from latest_definition_versions(array(select id from definition_lines)) as f
    join definition_listings as v on v.definition_id = f.definition_id
    where v.is_first <> f.is_first
  loop
    set local lock_timeout = '2s';
    perform from definition_lines where id = wrong for no key update;
    perform refresh_definition_listings(array[wrong], '{}');
    commit;
  end loop;
end
$$;
