import { expect, test } from "bun:test";
import { existsOrg } from "../../../sql/accounts/orgs.ts";
import { seedSmallDemo } from "../../helpers/demo.ts";
import { documentSource, loadBundledCatalog, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";

test("the demo gives every priced model past prices that lead to its current ones", async () => {
  await using db = await openTestDatabase();
  await loadBundledCatalog(db.sql);
  const before =
    await db.sql`select provider, model_id, model_prices(models) as prices from models order by 1, 2`;
  await seedSmallDemo(db.sql);
  const after =
    await db.sql`select provider, model_id, model_prices(models) as prices from models order by 1, 2`;
  expect([...after]).toEqual([...before]);
  const offenders = await db.sql`
    select model.provider, model.model_id
    from models as model
    left join lateral (
      select
        count(*) as count,
        bool_and(changed_at between model.created_at and now()) as is_known,
        bool_and(new_value = coalesce(next_value, (model_prices(model) ->> field)::numeric)) as is_connected
      from (
        select *, lead(old_value) over (partition by field order by id) as next_value
        from model_price_changes
        where provider = model.provider and model_id = model.model_id
      ) as change
    ) as past on true
    where input_usd_per_mtok >= 0.001 and not (past.count > 0 and is_known and is_connected)`;
  expect([...offenders]).toEqual([]);
});

test("prices of a database that has organizations stay as they are", async () => {
  await using db = await openTestDatabase();
  await syncFrom(db.sql, documentSource(makeDocument({ acme: { a: {} } })));
  await createFactory(db.sql).org();
  expect(await existsOrg(db.sql)).toBe(true);
  await seedSmallDemo(db.sql);
  const [row] = await db.sql<[{ count: number }]>`select count(*) from model_price_changes`;
  expect(row.count).toBe(0);
});
