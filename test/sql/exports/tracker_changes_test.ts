import { expect, test } from "bun:test";
import { deleteOldTrackerChanges } from "../../../sql/exports/tracker_changes.ts";
import { countReads } from "../../helpers/postgres/count_reads.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

test("reads only the entries that the sweep deletes, even if old and new entries share pages", async () => {
  await using db = await openTestDatabase();
  // Mixes old and new entries on each page, as if new entries had reused the space of vacuumed entries.
  await db.owner`
    insert into tracker_changes (project_id, dataset, at, kind, id)
    select
      gen_random_uuid(), 'issues', now() - make_interval(days => case when n % 1000 = 0 then 92 else 1 end), 'row',
      gen_random_uuid()
    from generate_series(1, 30000) as n`;
  await db.owner`analyze tracker_changes`;
  const sweep = () =>
    db.sql.begin(async (tx) => {
      const sweeping = () => deleteOldTrackerChanges(tx, 20);
      const { result: deleted, rows } = await countReads(tx, ["tracker_changes"], sweeping);
      return { deleted, readFew: rows < 200 };
    });
  expect(await sweep()).toEqual({ deleted: 20, readFew: true });
  expect(await sweep()).toEqual({ deleted: 10, readFew: true });
  expect(await sweep()).toEqual({ deleted: 0, readFew: true });
});
