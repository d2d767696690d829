/** Invents past prices of the catalog's models for the demo: price plots of a new database would be flat. */
import type { Sql } from "../connection/pool.ts";

/** Prices are known since so long ago. */
const DAYS = 90;

/**
 * Gives every model with a price of at least $0.001 one to three earlier prices within the last 90 days. Current prices stay as they are. Only for a
 * database whose prices nobody relies on. Call inside a transaction.
 */
export async function insertDemoPriceHistory(tx: Sql, now: string): Promise<void> {
  await tx`
    insert into model_price_changes (provider, model_id, field, old_value, new_value, changed_at)
    select provider, model_id, field, old_value, new_value, changed_at
    from models as model
    cross join lateral (select hashtext(provider || '/' || model_id) & 1023 as seed) as chance
    cross join lateral generate_series(1 + seed % 3, 1, -1) as age (step)
    cross join lateral (
      -- Most prices fell, one in five rose.
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
  await tx`
    update models
    set created_at = date_trunc('milliseconds', ${now}::timestamptz) - make_interval(days => ${DAYS})`;
}
