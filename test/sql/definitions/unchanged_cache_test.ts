import { expect, test } from "bun:test";
import type { Sql } from "../../../sql/connection/pool.ts";
import { UnchangedCache } from "../../../sql/definitions/unchanged_cache.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { waitFor } from "../../helpers/wait_for.ts";

async function openCounter() {
  const db = await openTestDatabase();
  await db.owner`create table counter as select 0 as number`;
  const cache = new UnchangedCache<number>(() => 8);
  const state = { queries: 0 };
  const query = async (): Promise<number> => {
    state.queries += 1;
    const [row] = await db.owner<[{ number: number }]>`select number from counter`;
    return row.number;
  };
  return {
    db,
    cache,
    state,
    query,
    add: (sql: Sql = db.owner) => sql`update counter set number = number + 1`,
    read: (key = "counter") => cache.read(db.sql, key, query),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

test("a value is reused while nothing is committed, for the same key only", async () => {
  await using counter = await openCounter();
  // Other tests write to other databases of the same server, whose transactions count too.
  await waitFor(async () => {
    await counter.read();
    const before = counter.state.queries;
    return (await counter.read()) === 0 && counter.state.queries === before;
  });
  const before = counter.state.queries;
  await counter.read("other");
  expect(counter.state.queries).toBe(before + 1);
});

test("a value is read again as soon as a transaction was committed, whenever that began", async () => {
  await using counter = await openCounter();
  for (let round = 1; round <= 20; round += 1) {
    await counter.db.owner.begin(async (tx) => {
      await counter.add(tx);
      expect(await counter.read()).toBe(2 * round - 2);
      expect(await counter.read()).toBe(2 * round - 2);
    });
    expect(await counter.read()).toBe(2 * round - 1);
    await counter.add();
    expect(await counter.read()).toBe(2 * round);
  }
});

test("a value that was read while something was committed is not reused", async () => {
  await using counter = await openCounter();
  const { db, cache, query } = counter;
  const readBefore = async () => {
    const number = await query();
    await counter.add();
    return number;
  };
  expect(await cache.read(db.sql, "counter", readBefore)).toBe(0);
  expect(await counter.read()).toBe(1);
});

test("a value that many ask for at the same time is read once", async () => {
  await using counter = await openCounter();
  await waitFor(async () => {
    await counter.add();
    const before = counter.state.queries;
    await Promise.all(Array.from({ length: 4 }, () => counter.read()));
    return counter.state.queries === before + 1;
  });
});

test("the size of the cache is bounded", async () => {
  await using counter = await openCounter();
  const cache = new UnchangedCache<string>((text) => text.length, 5_000);
  for (let number = 0; number < 100; number += 1) {
    const text = "x".repeat(1000 * (number % 10));
    expect(await cache.read(counter.db.sql, `key-${number}`, async () => text)).toBe(text);
  }
  expect(cache.bytes).toBeLessThanOrEqual(5_000);
});
