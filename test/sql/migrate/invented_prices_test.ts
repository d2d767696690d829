/** Tests the migration that deletes the price changes that earlier demo versions invented. */
import { expect, test } from "bun:test";
import type { Pool } from "../../../sql/connection/pool.ts";
import { readMigrations } from "../../../sql/migration_files.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

/** Inserts the price changes that an earlier version of the demo would have invented at `now`. */
async function invent(sql: Pool, now: string): Promise<void> {
  await sql`
    insert into model_price_changes (provider, model_id, field, old_value, new_value, changed_at)
    select provider, model_id, field, old_value, new_value, changed_at
    from models as model
    cross join lateral (select hashtext(provider || '/' || model_id) & 1023 as seed) as chance
    cross join lateral generate_series(1 + seed % 3, 1, -1) as age (step)
    cross join lateral (
      select
        case when seed % 5 = 0 then 0.8 else 1.25 end as factor,
        date_trunc('milliseconds', ${now}::timestamptz)
          - make_interval(days => (step - 1) * 28 + 2 + seed % 25, secs => seed * 61) as changed_at
    ) as change
    cross join lateral jsonb_each_text(model_prices(model)) as price (field, value)
    cross join lateral (
      select
        trim_scale(round(value::numeric * factor ^ step, 6)) as old_value,
        trim_scale(round(value::numeric * factor ^ (step - 1), 6)) as new_value
    ) as change_of_price
    where removed_at is null and input_usd_per_mtok >= 0.001 and old_value <> new_value
    order by changed_at, provider, model_id, field collate "C"`;
  await sql`
    update models set created_at = date_trunc('milliseconds', ${now}::timestamptz) - make_interval(days => 90)`;
  // Sets `prices_known_since` as the migration that added the column did.
  await sql`update models set prices_known_since = created_at`;
}

/** Models with prices of different precision and magnitude. */
const MODELS = Object.fromEntries(
  Array.from({ length: 60 }, (_, n) => [
    `m${n}`,
    { cost: { input: 0.001 + n / 7, output: 3 * n + 1, ...(n % 3 === 0 ? { cache_read: n / 11 } : {}) } },
  ]),
);

async function removeInvented(sql: Pool): Promise<void> {
  const name = "20261130083000_model_price_changes__invented__delete";
  const migration = (await readMigrations()).find((one) => one.name === name);
  await sql.unsafe(migration?.text ?? "");
}

async function listChanges(sql: Pool): Promise<unknown[]> {
  return [...(await sql`select * from model_price_changes order by id`)];
}

test("deletes the price changes that the demo invented, and keeps changes by syncs and operators", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentSource(makeDocument({ acme: { ...MODELS, unpriced: { cost: undefined } } })));
  const now = "2026-09-30T01:02:03.456Z";
  await invent(sql, now);
  const [{ count: invented }] = await sql<[{ count: number }]>`select count(*) from model_price_changes`;
  expect(invented).toBeGreaterThan(200);
  // Adds a change by a sync, a change by an operator, and a model that was added after the demo.
  const later = { acme: { ...MODELS, m1: { cost: { input: 9, output: 9 } }, unpriced: {}, late: {} } };
  await syncFrom(sql, documentSource(makeDocument(later)), { force: true });
  await sql`update models set input_usd_per_mtok = 1.25 * input_usd_per_mtok where model_id in ('m2', 'late')`;
  const recorded = await sql`select * from model_price_changes where id > ${invented} order by id`;
  const [late] = await sql`select prices_known_since from models where model_id = 'late'`;
  await removeInvented(sql);
  expect(await listChanges(sql)).toEqual([...recorded]);
  const since = await sql`
    select created_at, prices_known_since, array_agg(distinct model_id = 'late') as is_late
    from models
    group by 1, 2
    order by 1`;
  expect([...since]).toEqual([
    { createdAt: now, pricesKnownSince: now, isLate: [false] },
    { createdAt: late?.["pricesKnownSince"], pricesKnownSince: late?.["pricesKnownSince"], isLate: [true] },
  ]);
  await removeInvented(sql);
  expect(await listChanges(sql)).toEqual([...recorded]);
});

test("keeps price changes of any date if there was no demo", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentSource(makeDocument({ acme: MODELS })));
  await sql`update models set input_usd_per_mtok = 1.25 * input_usd_per_mtok`;
  await sql`update model_price_changes set changed_at = changed_at - make_interval(days => id::int)`;
  const before = await listChanges(sql);
  await removeInvented(sql);
  expect(await listChanges(sql)).toEqual(before);
});
