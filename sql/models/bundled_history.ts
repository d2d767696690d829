/** The bundled price history from before the first sync: every change that models.dev has published since June 2025. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { type Pool, type Sql, tableRows } from "../connection/pool.ts";
import { lockTransaction } from "../locks.ts";
import {
  type BundledHistory,
  type FirstPrices,
  type PastEvent,
  planBundledHistory,
} from "./bundled_history_plan.ts";
import { findLastGoodSync } from "./catalog_syncs.ts";
import { toPriceColumns } from "./models.ts";

const HISTORY = fileURLToPath(
  new URL("../../shared/models/bundled/price-history.ndjson.gz", import.meta.url),
);

export interface AddedHistory {
  changes: number;
  /** Number of models with added history, including models that were gone before the first sync. */
  models: number;
  gone: number;
  /** Time of the oldest added price. */
  since: string;
}

/** Reads the bundled events, oldest first. */
export async function readPastEvents(): Promise<PastEvent[]> {
  const lines = gunzipSync(await readFile(HISTORY))
    .toString("utf8")
    .trimEnd()
    .split("\n");
  // The file is our own, so its lines are not validated.
  return lines.map((line) => JSON.parse(line) as PastEvent);
}

/**
 * Adds the bundled history to a catalog of models.dev, once. Returns null if the catalog is empty, has another source or already
 * has the history. Recorded prices are unchanged, because the history ends where the records begin.
 */
export async function addBundledHistory(sql: Pool): Promise<AddedHistory | null> {
  if (!(await lacksPast(sql))) return null;
  const events = await readPastEvents();
  return sql.begin(async (tx) => {
    await lockTransaction(tx, "catalogSync");
    if (!(await lacksPast(tx))) return null;
    const [{ now }] = await tx<[{ now: string }]>`select now()::timestamptz(3) as now`;
    const past = planBundledHistory(events, await listFirstPrices(tx), now);
    await insertGoneModels(tx, past.gone);
    await updateKnownSince(tx, past.knownSince);
    await insertPastChanges(tx, past.changes);
    return {
      changes: past.changes.length,
      models: past.knownSince.length + past.gone.length,
      gone: past.gone.length,
      since: [...past.knownSince, ...past.gone].map((known) => known.pricesKnownSince).toSorted()[0] ?? now,
    };
  });
}

/** Returns whether the bundled history belongs to a source. `CatalogSource` and `catalog_syncs` use the same source names. */
export function hasBundledHistory(source: string): boolean {
  return source === "bundled" || source.startsWith("https://models.dev/");
}

/**
 * Returns whether the bundled history can still be added to the stored catalog. Bundled price changes have negative ids, so they
 * sort before all recorded changes. Any negative id means that the history was added.
 */
async function lacksPast(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ isComplete: boolean }]>`
    select not exists (select from models) or exists (select from model_price_changes where id < 0) as is_complete`;
  if (row.isComplete) return false;
  return hasBundledHistory((await findLastGoodSync(sql))?.source ?? "");
}

async function listFirstPrices(sql: Sql): Promise<FirstPrices[]> {
  return sql<FirstPrices[]>`
    select
      model.provider, model.model_id, model.created_at,
      jsonb_strip_nulls(model_prices(model) || coalesce(first.prices, '{}')) as prices
    from models as model
    left join lateral (
      select jsonb_object_agg(field, old_value) as prices
      from (
        select distinct on (field) field, old_value
        from model_price_changes
        where provider = model.provider and model_id = model.model_id
        order by field, id
      ) as change
    ) as first on true`;
}

/** Inserts models that exist only in the bundled history. Only the ids and prices of these models are known. */
async function insertGoneModels(sql: Sql, gone: BundledHistory["gone"]): Promise<void> {
  const rows = gone.map(({ prices, goneAt: removedAt, ...model }) => {
    return { ...model, removedAt, ...toPriceColumns(prices) };
  });
  await sql`
    with gone as (
      select * from ${tableRows(sql, "models", rows)} as r
    ), providers as (
      insert into model_providers (id, name, removed_at)
      select provider, provider, max(removed_at)
      from gone
      group by provider
      on conflict (id) do nothing
    )
    insert into models (
      provider, model_id, name, has_vision, has_tools, has_streaming, has_reasoning, has_structured_output,
      has_attachment, input_modalities, output_modalities, input_usd_per_mtok, output_usd_per_mtok,
      cache_read_usd_per_mtok, cache_write_usd_per_mtok, pricing, tier, tier_source, status, is_open_weights,
      prices_known_since, removed_at
    )
    select
      provider, model_id, model_id, false, false, false, false, false, false, '{}', '{}', input_usd_per_mtok,
      output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_usd_per_mtok, pricing, tier, tier_source, 'deprecated', false,
      prices_known_since, removed_at
    from gone`;
}

async function updateKnownSince(sql: Sql, models: BundledHistory["knownSince"]): Promise<void> {
  await sql`
    update models
    set prices_known_since = known.prices_known_since
    from ${tableRows(sql, "models", models)} as known
    where models.provider = known.provider and models.model_id = known.model_id`;
}

async function insertPastChanges(sql: Sql, changes: BundledHistory["changes"]): Promise<void> {
  await sql`
    insert into model_price_changes (id, provider, model_id, field, old_value, new_value, changed_at)
    overriding system value
    select position - 1 - ${changes.length}, provider, "modelId", field, "oldValue", "newValue", "changedAt"
    from rows from (
      jsonb_to_recordset(${sql.json(changes as never)}) as (
        provider text, "modelId" text, field text, "oldValue" numeric, "newValue" numeric, "changedAt" timestamptz
      )
    ) with ordinality as change (provider, "modelId", field, "oldValue", "newValue", "changedAt", position)`;
}
