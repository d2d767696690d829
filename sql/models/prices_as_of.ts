/** Finds the prices that were valid at a point in time, as known then or later. */
import type { Sql } from "../connection/pool.ts";
import type { ModelKey, Prices } from "./models.ts";

/**
 * A lookup of a model by key or alias. `asOf` is the time for which the prices are valid, and `knownAt` the time at which they were
 * known. For both, `null` means now.
 */
export type PriceLookup = (ModelKey | { alias: string }) & { asOf: string | null; knownAt?: string | null };

export interface FoundPrices {
  /** Time when the alias was first recorded; `null` if it never was, or for a lookup by key. */
  aliasKnownSince: string | null;
  /** The model and its prices; `null` if the alias had no target, or if the model is unknown. */
  model: (ModelKey & { knownSince: string; prices: Prices; pricesFrom: string }) | null;
}

interface PricesRow extends ModelKey {
  aliasKnownSince: string | null;
  knownSince: string | null;
  prices: Prices;
  pricesFrom: string;
}

/**
 * Finds the prices for each lookup in one statement, in the order of the lookups. An alias resolves to its target at the requested
 * time. Before `knownSince`, the prices are the first known prices.
 */
export async function findPrices(sql: Sql, lookups: readonly PriceLookup[]): Promise<FoundPrices[]> {
  const rows = await sql<PricesRow[]>`
    select
      model.provider,
      model.model_id,
      (
        select valid_from from model_alias_targets where alias = lookup.alias order by id limit 1
      ) as alias_known_since,
      model.prices_known_since as known_since,
      jsonb_strip_nulls(
        model_prices(model) || coalesce(later.old_prices, '{}') || coalesce(corrected.prices, '{}')
      ) as prices,
      greatest(coalesce(last.changed_at, model.prices_known_since), corrected.valid_from, ended.valid_to)
        as prices_from
    from rows from (
      jsonb_to_recordset(${sql.json(lookups as never)})
        as (alias text, provider text, "modelId" text, "asOf" timestamptz, "knownAt" timestamptz)
    ) with ordinality as lookup (alias, provider, model_id, as_of, known_at, position)
    -- Recorded prices and alias targets became known when they became valid, so the earlier time applies.
    cross join lateral (select least(lookup.as_of, lookup.known_at, 'infinity') as at) as recorded
    left join lateral (
      select provider, model_id
      from model_alias_targets
      where alias = lookup.alias and valid_from <= recorded.at
      order by id desc
      limit 1
    ) as target on true
    left join models as model
      on model.provider = coalesce(target.provider, lookup.provider)
      and model.model_id = coalesce(target.model_id, lookup.model_id)
    left join lateral (
      select id, changed_at
      from model_price_changes
      where provider = model.provider and model_id = model.model_id
        and changed_at <= recorded.at
      order by id desc
      limit 1
    ) as last on true
    left join lateral (
      select jsonb_object_agg(field, old_value) as old_prices
      from (
        select distinct on (field) field, old_value
        from model_price_changes
        where provider = model.provider and model_id = model.model_id and (last.id is null or id > last.id)
        order by field, id
      ) as first_changes
    ) as later on true
    left join lateral (
      select jsonb_object_agg(field, value) as prices, max(valid_from) as valid_from
      from (
        select distinct on (field) field, value, valid_from
        from model_price_corrections
        where provider = model.provider and model_id = model.model_id
          and valid_from <= lookup.as_of and valid_to > lookup.as_of
          and known_from <= coalesce(lookup.known_at, 'infinity')
        order by field, id desc
      ) as correction
    ) as corrected on true
    -- A price changes again at the end of a correction, unless a later correction of the price covers that time.
    left join lateral (
      select max(valid_to) as valid_to
      from model_price_corrections as correction
      where provider = model.provider and model_id = model.model_id
        and valid_to <= coalesce(lookup.as_of, 'infinity')
        and known_from <= coalesce(lookup.known_at, 'infinity')
        and not exists (
          select from model_price_corrections as later
          where later.provider = correction.provider and later.model_id = correction.model_id
            and later.field = correction.field and later.id > correction.id
            and later.valid_from <= correction.valid_to and later.valid_to > correction.valid_to
            and later.known_from <= coalesce(lookup.known_at, 'infinity')
        )
    ) as ended on true
    order by lookup.position`;
  return rows.map(({ aliasKnownSince, knownSince, ...model }) => ({
    aliasKnownSince,
    model: knownSince === null ? null : { ...model, knownSince },
  }));
}
