/** docs/operating.md describes the growth and the retention of every table. */
import { expect, test } from "bun:test";
import { openTestDatabase } from "../helpers/postgres/database.ts";

test("docs/operating.md lists each existing table exactly once under Growth", async () => {
  await using db = await openTestDatabase();
  const tables = await db.sql<{ name: string }[]>`
    select c.relname as name
    from pg_class as c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by name`;
  const page = await Bun.file(new URL("../../docs/operating.md", import.meta.url)).text();
  const [, section = ""] = page.split("\n## Growth\n");
  const rows = section.split("\n## ")[0]?.match(/^\| `[^|]+(?= \|)/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual(tables.map(({ name }) => name).sort());
});
