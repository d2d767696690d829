/**
 * Creates a role for another program, such as a tracker, that connects to a test database. Roles belong to the whole
 * server.
 */
import { openPool, type Pool } from "../../../sql/connection/pool.ts";
import type { TestDatabase } from "./database.ts";

export interface LoginRole extends AsyncDisposable {
  name: string;
  /** The role's connections, with the application name `acme`. */
  sql: Pool;
}

/**
 * Creates a role without privileges. Disposal drops the role over the database's connections, so dispose of the role
 * before the database.
 */
export async function openLoginRole(
  db: TestDatabase,
  { name = `acme_${crypto.randomUUID().slice(0, 8)}`, max = 1 } = {},
): Promise<LoginRole> {
  await db.admin.unsafe(`drop role if exists ${name}; create role ${name} login password 'secret'`);
  const url = new URL(db.url);
  [url.username, url.password] = [name, "secret"];
  const sql = openPool(url.href, { applicationName: "acme", max });
  return {
    name,
    sql,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      await db.admin.unsafe(`drop owned by ${name} cascade; drop role ${name}`);
    },
  };
}
