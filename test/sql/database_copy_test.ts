/** Tests that a database and its copies have different installation ids. */
import { expect, test } from "bun:test";
import { ensureInstallation } from "../../sql/database_copy.ts";
import { copyTestDatabase, openTestDatabase } from "../helpers/postgres/database.ts";

test("gives a database one permanent id for all processes", async () => {
  await using db = await openTestDatabase();
  const ids = await Promise.all(Array.from({ length: 8 }, () => ensureInstallation(db.sql)));
  expect(new Set(ids).size).toBe(1);
  expect(await ensureInstallation(db.sql)).toBe(ids[0] ?? "");
});

test("gives a copy its own id, and keeps the id of the original", async () => {
  await using db = await openTestDatabase();
  const id = await ensureInstallation(db.sql);
  await using copy = await copyTestDatabase(db);
  const [row] = await copy.sql`select id from installation`;
  expect(row).toEqual({ id });
  const ids = await Promise.all(Array.from({ length: 8 }, () => ensureInstallation(copy.sql)));
  expect(new Set([...ids, id]).size).toBe(2);
  expect(await ensureInstallation(db.sql)).toBe(id);
});

test("gives a database an id even if the role may not read the server's identity", async () => {
  await using db = await openTestDatabase();
  await db.admin`revoke execute on function pg_control_system() from public`;
  const id = await ensureInstallation(db.sql);
  await using copy = await copyTestDatabase(db);
  expect(await ensureInstallation(copy.sql)).not.toBe(id);
  expect(await ensureInstallation(db.sql)).toBe(id);
});
