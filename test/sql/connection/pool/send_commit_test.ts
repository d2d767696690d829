/** Tests read-only transactions that are sent without waiting for responses. */
import { expect, test } from "bun:test";
import { openPool, sendCommit, type Transaction } from "../../../../sql/connection/pool.ts";
import { openSlowProxy } from "../../../helpers/network/slow_proxy.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

/** Sends a statement together with the commit. */
async function readOnce(tx: Transaction): Promise<string | null> {
  const rows = tx<
    [{ value: string | null }]
  >`select set_config('ulr.test', 'inside', true) as value`.execute();
  sendCommit(tx);
  const [row] = await rows;
  return row.value;
}

test("sends begin, the statement and the commit before the server's first response", async () => {
  await using db = await openTestDatabase();
  await using proxy = await openSlowProxy(db.url);
  const url = new URL(db.url);
  url.port = new URL(proxy.origin).port;
  const sql = openPool(url.href, { applicationName: "test-commit", max: 1 });
  await sql`select 1`;
  proxy.stall();
  const read = sql.begin("read only", readOnce).catch((error: unknown) => error);
  await waitFor(async () => {
    const [session] = await db.admin`
      select query, state from pg_stat_activity where application_name = 'test-commit'`;
    return session?.["query"] === "commit" && session["state"] === "idle";
  });
  proxy.reset();
  expect(await read).toBeInstanceOf(Error);
  await sql.end({ timeout: 1 });
});

test("never runs other queries on the connection within the transaction", async () => {
  await using db = await openTestDatabase();
  const sql = openPool(db.url, { applicationName: "test", max: 1 });
  const ask = async () => {
    const [row] = await sql<[{ value: string | null }]>`select current_setting('ulr.test', true) as value`;
    return row.value || null;
  };
  const values = await Promise.all([
    ask(),
    sql.begin("read only", readOnce),
    ask(),
    ask(),
    sql.begin("read only", readOnce),
    ask(),
  ]);
  expect(values).toEqual([null, "inside", null, null, "inside", null]);
  await sql.end();
});

test("rejects a statement that fails before the commit, and leaves no transaction open", async () => {
  await using db = await openTestDatabase();
  const sql = openPool(db.url, { applicationName: "test", max: 1 });
  const read = sql.begin("read only", async (tx) => {
    const failing = tx`select 1 / 0 as x, set_config('ulr.test', 'inside', true)`.execute();
    sendCommit(tx);
    return await failing;
  });
  expect(await read.catch((error: unknown) => error)).toMatchObject({ code: "22012" });
  const [row] = await sql`select current_setting('transaction_read_only') as read_only`;
  expect(row).toEqual({ readOnly: "off" });
  await sql.end();
});

test("rejects a statement after the commit", async () => {
  await using db = await openTestDatabase();
  const sql = openPool(db.url, { applicationName: "test", max: 1 });
  const late = sql.begin("read only", async (tx) => {
    await readOnce(tx);
    return await tx`select current_setting('ulr.test', true) as value`;
  });
  expect(await late.catch((error: unknown) => error)).toMatchObject({ code: "UNSAFE_TRANSACTION" });
  expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }]);
  await sql.end();
});

test("rejects a transaction with the error from its BEGIN, whatever statements follow", async () => {
  await using db = await openTestDatabase();
  const breakBegin = (chunk: Buffer) =>
    Buffer.from(chunk.toString("latin1").replace("begin read only", "begun read only"), "latin1");
  await using proxy = await openSlowProxy(db.url, { alter: breakBegin });
  const url = new URL(db.url);
  url.port = new URL(proxy.origin).port;
  const sql = openPool(url.href, { applicationName: "test", max: 1 });
  const sent = sql.begin("read only", readOnce);
  expect(await sent.catch((error: unknown) => error)).toMatchObject({ code: "42601" });
  const queued = sql.begin("read only", (tx) => {
    // The driver delays the second statement until it knows the parameters of the first.
    return Promise.all([tx`select ${1}::int as one`.execute(), tx`select 2 as two`.execute()]);
  });
  expect(await queued.catch((error: unknown) => error)).toMatchObject({ code: "42601" });
  expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }]);
  await sql.end();
});
