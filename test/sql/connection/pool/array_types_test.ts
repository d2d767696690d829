/** Tests that a pool knows PostgreSQL's array types without querying them. */
import { expect, test } from "bun:test";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";

test("sends only the query's own statement on a new connection", async () => {
  await using db = await openTestDatabase();
  const pool = db.openPool({ applicationName: "test", max: 2 });
  const sent: string[] = [];
  pool.options.debug = (_connection, text) => sent.push(text);
  await pool`select 1`;
  // The second reservation opens a new connection.
  const held = await Promise.all([pool.reserve(), pool.reserve()]);
  await held[1]`select 2`;
  for (const connection of held) connection.release();
  expect(sent).toEqual(["select 1", "select 2"]);
});

test("maps each element type to the server's array type", async () => {
  await using db = await openTestDatabase();
  const { array_types: known } = db.sql.options as unknown as { array_types: Record<string, number> };
  const elements = Object.keys(known).map(Number);
  const types = await db.sql<{ oid: number; typarray: number }[]>`
    select oid::int, typarray::int from pg_type where oid = any(${elements}::int[])`;
  expect(Object.fromEntries(types.map(({ oid, typarray }) => [oid, typarray]))).toEqual(known);
});

test.each<[type: string, values: unknown[]]>([
  ["text", ['a "b"', "c,d", "\\"]],
  ["int", [1, -2]],
  ["bigint", [9_007_199_254_740_991]],
  ["uuid", ["019e6ed2-c5ba-7000-8000-000000000001"]],
  ["numeric", [1.5]],
  ["date", ["2026-01-31"]],
  ["timestamptz", ["2026-01-31T00:00:00.120Z"]],
  ["regclass", ["pg_class"]],
  ["name", ["pg_class"]],
  ["boolean", [true, false]],
])("parses an array of %s into its values", async (type, values) => {
  await using db = await openTestDatabase();
  const text = `{${values.map((value) => JSON.stringify(String(value))).join(",")}}`;
  const [row] = await db.sql.unsafe<[{ found: unknown[] }]>(`select $1::text::${type}[] as found`, [text]);
  expect(row.found).toEqual(values);
});
