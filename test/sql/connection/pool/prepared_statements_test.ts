/** Tests the number of prepared statements that a connection keeps. */
import { expect, test } from "bun:test";
import { MAX_STATEMENTS, type Sql } from "../../../../sql/connection/pool.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";

/** Runs a statement whose text is unique to `number`. */
async function addTo(sql: Sql, number: number): Promise<number> {
  const [row] = await sql.unsafe<[{ sum: number }]>(`select $1::int + ${number} as sum`, [1], {
    prepare: true,
  });
  return row.sum;
}

/** Returns the texts of the connection's prepared statements. This query itself is not prepared. */
async function listPrepared(sql: Sql): Promise<string[]> {
  const rows = await sql.unsafe<{ statement: string }[]>(
    "select statement from pg_prepared_statements order by prepare_time",
  );
  return rows.map(({ statement }) => statement);
}

test("keeps a connection's most recently used statements, and deallocates the other statements", async () => {
  await using db = await openTestDatabase();
  const sql = db.openPool({ applicationName: "test", max: 1 });
  const often = "select $1::int + 0 as sum";
  for (let number = 1; number <= 2 * MAX_STATEMENTS; number += 1) {
    expect([await addTo(sql, 0), await addTo(sql, number)]).toEqual([1, 1 + number]);
  }
  const prepared = await listPrepared(sql);
  expect(prepared).toHaveLength(MAX_STATEMENTS);
  expect([prepared[0], prepared.at(-1)]).toEqual([often, `select $1::int + ${2 * MAX_STATEMENTS} as sum`]);
  expect(await addTo(sql, 1)).toBe(2);
});

test("deallocates statements without affecting concurrent, failing and partially read statements", async () => {
  await using db = await openTestDatabase();
  const sql = db.openPool({ applicationName: "test", max: 1 });
  const numbers = Array.from({ length: 2 * MAX_STATEMENTS }, (_, number) => number);
  const inParts: number[] = [];
  const sums = await sql.begin(async (tx) => {
    const all = numbers.map((number) => addTo(tx, number));
    const failing = tx.savepoint((inner) => inner`select 1 / ${0}::int`).catch((error: unknown) => error);
    const [found, failure] = await Promise.all([Promise.all(all), failing]);
    expect(failure).toMatchObject({ code: "22012" });
    for await (const rows of tx<{ n: number }[]>`select n from generate_series(1, ${4}::int) as n`.cursor(
      1,
    )) {
      inParts.push(...rows.map(({ n }) => n));
    }
    return found;
  });
  expect(sums).toEqual(numbers.map((number) => number + 1));
  expect(inParts).toEqual([1, 2, 3, 4]);
  expect((await listPrepared(sql)).length).toBeLessThanOrEqual(MAX_STATEMENTS);
  expect(await Promise.all(numbers.map((number) => addTo(sql, number)))).toEqual(sums);
});
