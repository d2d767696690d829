/**
 * Databases that tests reuse: a test finds no data of the test before it, and databases with changed tables are not
 * reused.
 */
import { expect, test } from "bun:test";
import { openTestApp } from "../helpers/http/app.ts";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";

/** Returns the row count of each table and the current value of each sequence. */
async function contentOf({ admin }: TestDatabase): Promise<Record<string, string>> {
  const relations = await admin<{ name: string; kind: string }[]>`
    select oid::regclass::text as name, relkind as kind
    from pg_class
    where relkind in ('r', 'S') and relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)
    order by 1`;
  const content: Record<string, string> = {};
  for (const { name, kind } of relations) {
    const columns = kind === "S" ? "last_value, is_called" : "count(*)";
    const [row] = await admin.unsafe<[object]>(`select ${columns} from ${name}`);
    content[name] = JSON.stringify(row);
  }
  return content;
}

async function write(): Promise<string> {
  await using api = await openTestApp();
  const { org, user } = await api.make.person({ role: "owner" });
  await api.make.project({ orgId: org.id, ownerId: user.id });
  return api.db.url;
}

test("a test finds no data from an earlier test in any table or sequence", async () => {
  await using created = await createTestDatabase();
  const url = await write();
  await using next = await openTestDatabase();
  expect(await contentOf(next)).toEqual(await contentOf(created));
  if (process.env["TEST_KEEPS_DATABASES"]) expect(next.url).toBe(url);
});

test("a database whose tables a test may have changed is not reused", async () => {
  const urls = new Set<string>();
  for (const role of ["owner", "admin"] as const) {
    await using db = await openTestDatabase();
    await db[role]`create table leftovers (id int)`;
    expect(urls.has(db.url)).toBe(false);
    urls.add(db.url);
  }
  await using next = await openTestDatabase();
  expect(urls.has(next.url)).toBe(false);
});

test("a database with a running transaction is not reused", async () => {
  const held = Promise.withResolvers<void>();
  let url: string;
  let running: Promise<unknown>;
  {
    await using db = await openTestDatabase();
    url = db.url;
    const begun = Promise.withResolvers<void>();
    running = db.sql.begin(async (tx) => {
      await tx`select 1`;
      begun.resolve();
      await held.promise;
    });
    running.catch(() => {});
    await begun.promise;
  }
  await using next = await openTestDatabase();
  expect(next.url).not.toBe(url);
  held.resolve();
  await expect(running).rejects.toThrow();
});
