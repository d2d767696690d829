/** Tests the session settings of pools. */
import { expect, test } from "bun:test";
import { openPool } from "../../../../sql/connection/pool.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";

test("disables JIT compilation in sessions for requests and exports", async () => {
  await using app = await openTestApp();
  for (const sql of [app.deps.sql, app.deps.exportSql]) {
    const [row] = await sql`show jit`;
    expect(row?.["jit"]).toBe("off");
  }
});

test("returns the same digits and bytes whatever the database's settings", async () => {
  await using db = await openTestDatabase();
  const name = new URL(db.url).pathname.slice(1);
  await db.admin.unsafe(`alter database ${name} set extra_float_digits = 0`);
  await db.admin.unsafe(`alter database ${name} set bytea_output = 'escape'`);
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  for (const isPooled of [false, true]) {
    const sql = openPool(db.url, { applicationName: "ulr-test-settings", max: 1, isPooled });
    try {
      const [row] = await sql<[{ shown: string; bytes: Uint8Array; line: string }]>`
        select current_setting('bytea_output') as shown, ${bytes}::bytea as bytes,
          row_to_json(r)::text as line
        from (select 0.1::float8 + 0.2 as score) as r`;
      expect(row.shown).toBe("escape");
      expect([...row.bytes]).toEqual([...bytes]);
      // Behind a pooler, the session keeps the database's `extra_float_digits`. This does not affect exports, because they bypass
      // the pooler.
      if (!isPooled) expect(row.line).toBe('{"score":0.30000000000000004}');
    } finally {
      await sql.end();
    }
  }
});
