/** Tests the state of a connection after a failed query. */
import { expect, test } from "bun:test";
import { openPool } from "../../../../sql/connection/pool.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";

test("returns a query's own rows after the previous query failed partway through its rows", async () => {
  await using db = await openTestDatabase();
  const sql = openPool(db.url, { applicationName: "test", max: 1 });
  const failing = sql`select 6 / (4 - n) as x from generate_series(1, 5) as n`;
  expect(await failing.catch((error: unknown) => error)).toMatchObject({ code: "22012" });
  const rows = await sql<{ n: number }[]>`select n from generate_series(1, 2) as n`;
  expect([...rows]).toEqual([{ n: 1 }, { n: 2 }]);
  await sql.end();
});
