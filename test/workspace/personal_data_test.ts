/** docs/operating.md lists every table that holds data about people. */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";

/** Tracker tables, which share one row of the page. */
const TRACKER = new Set<string>(Object.values(EXPORT_DATASETS).map(({ table }) => table));

test("docs/operating.md lists every table that refers to users or holds addresses, emails or networks", async () => {
  await using db = await openTestDatabase();
  const rows = await db.sql<{ name: string }[]>`
    select conrelid::regclass::text as name
    from pg_constraint
    where contype = 'f' and confrelid = 'users'::regclass
    union
    select table_name
    from information_schema.columns
    where table_schema = 'public'
      and column_name ~ '(^|_)(user_id|author_id|email|caller|address|network|user_agent|account_hash|subject_hash)$'`;
  const page = await Bun.file(new URL("../../docs/operating.md", import.meta.url)).text();
  const [, section = ""] = page.split("\n## Personal data\n");
  const [table = ""] = section.split("\n#");
  const missing = rows.map(({ name }) => name).filter((name) => !table.includes(`\`${name}\``));
  expect(rows.length).toBeGreaterThan(12);
  expect(missing.filter((name) => !TRACKER.has(name))).toEqual([]);
});
