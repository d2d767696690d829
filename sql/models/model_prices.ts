/** Prices of models, current and past. */
import type { Sql } from "../connection/pool.ts";
import type { Model, ModelKey, Prices } from "./models.ts";

/** Returns all prices of a model, like the SQL function `model_prices`. */
export function modelPrices(model: Model): Prices {
  const columns = {
    input: model.inputUsdPerMtok,
    output: model.outputUsdPerMtok,
    cacheRead: model.cacheReadUsdPerMtok,
    cacheWrite: model.cacheWriteUsdPerMtok,
  };
  const known = Object.entries(columns).filter((entry): entry is [string, number] => entry[1] !== null);
  return { ...Object.fromEntries(known), ...model.pricing };
}

/** A model, by key or by an alias, and the instant its prices are read for; `null` means now. */
export type PriceLookup = (ModelKey | { alias: string }) & { asOf: string | null };

export interface FoundPrices {
  /** When the alias was first recorded; `null` if it never was, or without an alias. */
  aliasKnownSince: string | null;
  /** The model and its prices; `null` if the alias stood for nothing, or if the model is unknown. */
  model: (ModelKey & { knownSince: string; prices: Prices; pricesFrom: string }) | null;
}

interface PricesRow extends ModelKey {
  aliasKnownSince: string | null;
  knownSince: string | null;
  prices: Prices;
  pricesFrom: string;
}

/**
 * Finds the prices of each lookup in one statement, in the same order. An alias stands for the model it meant at that
 * instant. Before `knownSince`, the prices are the first known ones.
 */
export async function findPrices(sql: Sql, lookups: readonly PriceLookup[]): Promise<FoundPrices[]> {
  const keys = lookups.map(({ asOf, ...lookup }) =>
    "alias" in lookup
      ? { alias: lookup.alias, asOf }
      : { provider: lookup.provider, modelId: lookup.modelId, asOf },
  );
  const rows = await sql<PricesRow[]>`
    select
      model.provider,
      model.model_id,
      (
        select valid_from from model_alias_targets where alias = lookup.alias order by id limit 1
      ) as alias_known_since,
      model.prices_known_since as known_since,
      jsonb_strip_nulls(model_prices(model) || coalesce(later.old_prices, '{}')) as prices,
      coalesce(last.changed_at, model.prices_known_since) as prices_from
    from rows from (
      jsonb_to_recordset(${sql.json(keys)})
        as (alias text, provider text, "modelId" text, "asOf" timestamptz)
    ) with ordinality as lookup (alias, provider, model_id, as_of, position)
    left join lateral (
      select provider, model_id
      from model_alias_targets
      where alias = lookup.alias and valid_from <= coalesce(lookup.as_of, 'infinity')
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
        and changed_at <= coalesce(lookup.as_of, 'infinity')
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
    order by lookup.position`;
  return rows.map(({ aliasKnownSince, knownSince, ...model }) => ({
    aliasKnownSince,
    model: knownSince === null ? null : { ...model, knownSince },
  }));
}
