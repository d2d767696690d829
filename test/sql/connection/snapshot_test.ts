import { expect, test } from "bun:test";
import { openPool } from "../../../sql/connection/pool.ts";
import { limitStatements, openExportSnapshot, withStatementLimit } from "../../../sql/connection/snapshot.ts";
import { lockExportMail } from "../../../sql/exports/jobs.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const LIMITS = ["statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"];

test("lets exports and mails exceed the server's time limits for transactions", async () => {
  await using db = await openTestDatabase();
  // PostgreSQL 15 and 16 have no transaction_timeout.
  const known = await db.sql<
    { name: string }[]
  >`select name from pg_settings where name in ${db.sql(LIMITS)}`;
  const settings = Object.fromEntries(known.map(({ name }) => [name, "300ms"]));
  const pool = openPool(db.url, { applicationName: "test-limits", max: 2, settings });
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal: new AbortController().signal });
  await Bun.sleep(500);
  expect(await snapshot.run((tx) => tx`select 1 as read from pg_sleep(0.5)`)).toMatchObject([{ read: 1 }]);
  await snapshot.close();
  const isSent = await pool.begin(async (tx) => {
    const isLocked = await lockExportMail(tx, crypto.randomUUID());
    await Bun.sleep(500);
    await tx`select`;
    return isLocked;
  });
  expect(isSent).toBe(true);
  await pool.end();
});

test("restores the transaction's statement timeout after a step with a shorter timeout", async () => {
  await using db = await openTestDatabase();
  await db.sql.begin(async (tx) => {
    await limitStatements(tx, 10_000);
    const read = () => tx`select current_setting('statement_timeout') as "limit"`;
    expect(await withStatementLimit(tx, 5_000, read)).toMatchObject([{ limit: "5s" }]);
    expect(await read()).toMatchObject([{ limit: "10s" }]);
  });
});
