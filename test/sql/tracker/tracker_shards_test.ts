/** Tests that a database on a single server does not reference Citus. */
import { expect, test } from "bun:test";
import { migrate } from "../../../sql/migrate.ts";
import { hasDistributedFunctions, openNodes } from "../../../sql/tracker/tracker_shards.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

test("does not mention Citus in any function on a single server, and finds no nodes", async () => {
  await using db = await openTestDatabase();
  await migrate(db.owner);
  const named = await db.owner`
    select proname from pg_proc where pronamespace = 'public'::regnamespace and prosrc ~* 'citus|pg_dist_'`;
  expect([...named]).toEqual([]);
  expect(await hasDistributedFunctions(db.sql)).toBe(false);
  expect(
    await openNodes(db.sql, { url: db.url, applicationName: "test", max: 1, log: {} as never }),
  ).toBeNull();
});

test("keeps functions that the previous release calls during an upgrade, but lists no shards or nodes", async () => {
  await using db = await openTestDatabase();
  const { owner } = db;
  expect([...(await owner`select * from find_tracker_shards(gen_random_uuid())`)]).toEqual([]);
  expect([...(await owner`select * from list_tracker_nodes()`)]).toEqual([]);
  const [{ isStart }] = await owner<
    [{ isStart: boolean }]
  >`select tracker_transaction_start() = now() as is_start`;
  expect(isStart).toBe(true);
  await owner`select log_tracker_change(gen_random_uuid(), 'runs', 'row', gen_random_uuid())`;
  expect([...(await owner`select dataset, kind from tracker_changes`)]).toEqual([
    { dataset: "runs", kind: "row" },
  ]);
});
