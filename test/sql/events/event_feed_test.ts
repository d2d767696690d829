import { expect, test } from "bun:test";
import { EVENT_TYPES } from "../../../shared/vocabulary.ts";
import type { Pool, Sql } from "../../../sql/connection/pool.ts";
import { deleteOldEvents, listEvents, settleEvents } from "../../../sql/events/event_feed.ts";
import { insertModelEvents } from "../../../sql/events/events.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";
import { randomNumbers } from "../../helpers/random_numbers.ts";

const ANONYMOUS = { userId: null, boundOrgId: null };

function addModel(sql: Sql, modelId: string): Promise<void> {
  return insertModelEvents(sql, { added: [{ provider: "p", modelId }], gone: [], priceChanges: [] });
}

/** Settles the events and reads the next page, as GET /events does. */
async function readOn(sql: Pool, after: number, limit = 50): Promise<{ seen: unknown[]; cursor: number }> {
  await settleEvents(sql);
  const page = await listEvents(sql, {
    viewer: ANONYMOUS,
    orgId: null,
    types: EVENT_TYPES,
    after,
    limit,
  });
  const seen = page.rows.map(({ data }) => data["modelId"]);
  const last = page.rows.at(-1);
  return { seen, cursor: last && page.rows.length === limit ? last.position : page.settledPosition };
}

interface OpenWriter {
  write(modelId: string): Promise<void>;
  end(): Promise<void>;
}

/** Starts a transaction that stays open until `end()` commits it or rolls it back. */
async function openWriter(sql: Pool, isCommitted: boolean): Promise<OpenWriter> {
  const ready = Promise.withResolvers<Sql>();
  const done = Promise.withResolvers<void>();
  const ended = sql
    .begin(async (tx) => {
      ready.resolve(tx);
      await done.promise;
      if (!isCommitted) throw new Error("rolled back");
    })
    .catch((error: Error) => {
      if (error.message !== "rolled back") throw error;
    });
  const tx = await ready.promise;
  return {
    write: (modelId) => addModel(tx, modelId),
    async end() {
      done.resolve();
      await ended;
    },
  };
}

/** Opens a reader that keeps its cursor. */
async function openReader(sql: Pool) {
  const { cursor: start } = await readOn(sql, 0, 1000);
  const seen: unknown[] = [];
  let cursor = start;
  async function read(limit: number): Promise<boolean> {
    const page = await readOn(sql, cursor, limit);
    seen.push(...page.seen);
    cursor = page.cursor;
    return page.seen.length > 0;
  }
  async function finish() {
    while (await read(3));
    return { start, seen, cursor };
  }
  return { read, finish };
}

/** Simulates writers that keep up to three transactions open at a time. */
function openWriters(sql: Pool, random: () => number) {
  const open: { writer: OpenWriter; names: string[]; isCommitted: boolean }[] = [];
  const committed: string[] = [];
  const choose = () => open[Math.floor(random() * open.length)];
  async function end(chosen = choose()): Promise<void> {
    if (!chosen) return;
    open.splice(open.indexOf(chosen), 1);
    await chosen.writer.end();
    if (chosen.isCommitted) committed.push(...chosen.names);
  }
  return {
    async begin() {
      if (open.length === 3) return;
      const isCommitted = random() < 0.8;
      open.push({ writer: await openWriter(sql, isCommitted), names: [], isCommitted });
    },
    async write(name: string) {
      const chosen = choose();
      await chosen?.writer.write(name);
      chosen?.names.push(name);
    },
    end,
    async finish() {
      while (open.length > 0) await end();
      return committed;
    },
  };
}

test("returns each event exactly once, in whatever order transactions commit", async () => {
  await using db = await openTestDatabase();
  for (let seed = 1; seed <= 8; seed += 1) {
    const random = randomNumbers(seed);
    const writers = openWriters(db.sql, random);
    const reader = await openReader(db.sql);
    const steps = [
      () => writers.begin(),
      () => writers.write(`${seed}-${random()}`),
      () => writers.end(),
      () => reader.read(1 + Math.floor(random() * 4)),
    ];
    for (let step = 0; step < 80; step += 1) await steps[Math.floor(random() * steps.length)]?.();
    const committed = await writers.finish();
    const { start, seen, cursor } = await reader.finish();
    expect(committed.length).toBeGreaterThan(0);
    expect(seen.toSorted()).toEqual(committed.toSorted());
    expect(await readOn(db.sql, start, 1000)).toEqual({ seen, cursor });
  }
});

test("returns events in the same order to several readers that settle concurrently during writes", async () => {
  await using db = await openTestDatabase();
  const writing = Promise.all(
    Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; n < 50; n += 1) {
        await db.sql.begin(async (tx) => {
          await addModel(tx, `${writer}-${n}-a`);
          await addModel(tx, `${writer}-${n}-b`);
        });
      }
    }),
  );
  let isWriting = true;
  const stopped = writing.then(() => {
    isWriting = false;
  });
  const follow = async () => {
    const seen: unknown[] = [];
    let cursor = 0;
    while (isWriting || seen.length < 400) {
      const page = await readOn(db.sql, cursor, 7);
      seen.push(...page.seen);
      cursor = page.cursor;
    }
    return seen;
  };
  const [first, second, third] = await Promise.all([follow(), follow(), follow()]);
  await stopped;
  expect(first).toHaveLength(400);
  expect(second).toEqual(first);
  expect(third).toEqual(first);
  const ofOne = first.filter((name) => String(name).startsWith("0-"));
  expect(ofOne).toEqual(Array.from({ length: 50 }, (_, n) => [`0-${n}-a`, `0-${n}-b`]).flat());
});

test("returns committed events while another transaction with an event is still open", async () => {
  await using db = await openTestDatabase();
  const held = await openWriter(db.sql, true);
  await held.write("late");
  await addModel(db.sql, "early");
  const page = await readOn(db.sql, 0);
  expect(page.seen).toEqual(["early"]);
  await held.end();
  expect((await readOn(db.sql, page.cursor)).seen).toEqual(["late"]);
});

test("deletes old events in order, and records the last deleted position", async () => {
  await using db = await openTestDatabase();
  for (const name of ["old", "older", "new"]) await addModel(db.sql, name);
  await settleEvents(db.sql);
  await db.sql`update events set created_at = now() - interval '31 days' where position <= 2`;
  await addModel(db.sql, "unsettled");
  await db.sql`update events set created_at = now() - interval '31 days' where position is null`;
  expect(await deleteOldEvents(db.sql, { days: 30, limit: 1 })).toBe(1);
  expect(await deleteOldEvents(db.sql, { days: 30, limit: 10 })).toBe(1);
  expect(await deleteOldEvents(db.sql, { days: 30, limit: 10 })).toBe(0);
  const [log] = await db.sql`select deleted_position, settled_position from event_log`;
  expect({ ...log }).toEqual({ deletedPosition: 2, settledPosition: 3 });
  expect((await readOn(db.sql, 2)).seen).toEqual(["new", "unsettled"]);
});

test("reads few blocks for a page despite 200,000 events of another organization", async () => {
  await using db = await openTestDatabase();
  const make = createFactory(db.sql);
  const [own, other] = [await make.person(), await make.person()];
  await db.admin.begin(async (tx) => {
    // Disables the check of the foreign key, which would take seconds.
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into events (position, type, org_id, is_public, data)
      select n, 'export.ready', ${other.org.id}, false, '{}'
      from generate_series(1, 200000) as n`;
  });
  await db.owner`update event_log set settled_position = 200000`;
  await db.owner`analyze events`;
  await addModel(db.sql, "m");
  await settleEvents(db.sql);
  for (const viewer of [ANONYMOUS, { userId: own.user.id, boundOrgId: null }]) {
    const { page, blocks } = await measurePage(db.sql, viewer);
    expect(page.rows.map(({ data }) => data["modelId"])).toEqual(["m"]);
    expect(blocks).toBeLessThan(500);
  }
  const page = await measurePage(db.sql, { userId: other.user.id, boundOrgId: null });
  expect(page.page.rows).toHaveLength(50);
  expect(page.blocks).toBeLessThan(1500);
});

/** Reads a page. Returns it with the number of table and index blocks that PostgreSQL fetched for it. */
async function measurePage(sql: Pool, viewer: { userId: string | null; boundOrgId: string | null }) {
  return sql.begin(async (tx) => {
    const count = async () => {
      await tx`select pg_stat_force_next_flush()`;
      const [row] = await tx<[{ blocks: number }]>`
        select pg_stat_get_xact_blocks_fetched('events'::regclass) + coalesce(sum(pg_stat_get_xact_blocks_fetched(indexrelid)), 0) as blocks
        from pg_index
        where indrelid = 'events'::regclass`;
      return row.blocks;
    };
    const before = await count();
    const page = await listEvents(tx, {
      viewer,
      orgId: null,
      types: EVENT_TYPES,
      after: 0,
      limit: 50,
    });
    return { page, blocks: (await count()) - before };
  });
}
