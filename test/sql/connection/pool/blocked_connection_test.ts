/** Tests a pool while a statement on one connection is blocked. */
import { expect, test } from "bun:test";
import { openPool } from "../../../../sql/connection/pool.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";

test("queues no query behind a blocked statement while another connection is available", async () => {
  await using db = await openTestDatabase();
  const sql = openPool(db.url, { applicationName: "test", max: 2 });
  const release = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holding = db.owner.begin(async (tx) => {
    await tx`lock table users in access exclusive mode`;
    held.resolve();
    await release.promise;
  });
  await held.promise;
  // Opens both connections in advance, so that the queries below do not have to.
  await Promise.all([sql`select 1`, sql`select 1`]);
  let isBlocked = true;
  const blocked = sql`select from users`.then(() => (isBlocked = false));
  const rows = await Promise.all(
    Array.from({ length: 50 }, (_, n) => sql<[{ n: number }]>`select ${n}::int as n`),
  );
  expect(rows.map(([row]) => row.n)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  expect(isBlocked).toBe(true);
  release.resolve();
  await Promise.all([holding, blocked]);
  await sql.end();
});
