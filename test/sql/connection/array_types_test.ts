/** The driver reads and writes arrays without asking the server for its types. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ARRAY_TYPES } from "../../../sql/connection/array_types.ts";
import { openPool } from "../../../sql/connection/pool.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await openTestDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

test("the array types are the server's", async () => {
  const types = ARRAY_TYPES.array_types.map(([type]) => type);
  const rows = await db.sql<{ oid: number; typarray: number }[]>`
    select oid::int, typarray::int from pg_type where oid = any (${types}::oid[]) order by oid`;
  expect(rows.map(({ oid, typarray }) => [oid, typarray])).toEqual(ARRAY_TYPES.array_types as never);
});

test("every array column and array parameter has a known type", async () => {
  const known = ARRAY_TYPES.array_types.map(([, arrayType]) => arrayType);
  const unknown = await db.sql`
    with used as (
      select a.atttypid as type, format('%s.%s', a.attrelid::regclass, a.attname) as place
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
      where c.relkind in ('r', 'p', 'v', 'm') and not a.attisdropped
        and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace)
      union all
      select unnest(p.proargtypes::oid[] || p.prorettype), p.oid::regprocedure::text
      from pg_proc p
      where p.pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
    )
    select place
    from used
    join pg_type on oid = type
    where typcategory = 'A' and typtype = 'b' and not type = any (${known}::oid[])`;
  expect([...unknown]).toEqual([]);
});

test("arrays pass both ways, on connections opened for a query, a transaction and a reservation", async () => {
  const given = { texts: ["a,b", 'c"d', "null", ""], at: ["2026-11-20T10:00:00.000Z"], numbers: [1, 2] };
  for (const open of ["query", "begin", "reserve"] as const) {
    await using pool = openClosable(db.url);
    const { sql } = pool;
    const select = (query: typeof sql) => query`
      select ${given.texts}::text[] as texts, ${given.at}::timestamptz[] as at, ${given.numbers}::bigint[] as numbers`;
    const reserved = open === "reserve" ? await sql.reserve() : null;
    const [row] =
      open === "begin"
        ? await sql.begin((tx) => select(tx as never))
        : await select((reserved ?? sql) as never);
    expect(row as unknown).toEqual(given);
    reserved?.release();
  }
});

function openClosable(url: string) {
  const sql = openPool(url, { applicationName: "test", max: 1 });
  return { sql, [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }) };
}
