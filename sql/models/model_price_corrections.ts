/** Table `model_price_corrections`: an operator's corrections of past prices. Recorded prices stay as they are. */
import { firstRow, onlyRow, type Sql } from "../connection/pool.ts";
import type { ModelKey } from "./models.ts";

export interface PriceCorrection {
  /** The price's name in the API, such as `input`. */
  field: string;
  /** USD per million tokens; `null` if the price is not known. */
  value: number | null;
  validFrom: string;
  /** The first instant at which the recorded price counts again. */
  validTo: string;
  reason: string;
}

export interface PriceCorrectionRow extends PriceCorrection {
  knownFrom: string;
}

/** Adds a correction, known from now on: not from the start of the transaction, which may have waited for a lock. */
export async function insertPriceCorrection(
  sql: Sql,
  { provider, modelId, field, value, validFrom, validTo, reason }: PriceCorrection & ModelKey,
): Promise<PriceCorrectionRow> {
  return onlyRow(sql<[PriceCorrectionRow]>`
    insert into model_price_corrections (provider, model_id, field, value, valid_from, valid_to, reason, known_from)
    values (
      ${provider}, ${modelId}, ${field}, ${value}, ${validFrom}, ${validTo}, ${reason}, clock_timestamp()
    )
    returning field, value, valid_from, valid_to, reason, known_from`);
}

/** Lists the corrections of a model, newest first. */
export async function listPriceCorrections(sql: Sql, key: ModelKey): Promise<PriceCorrectionRow[]> {
  return sql<PriceCorrectionRow[]>`
    select field, value, valid_from, valid_to, reason, known_from
    from model_price_corrections
    where provider = ${key.provider} and model_id = ${key.modelId}
    order by id desc`;
}

/** What limits a correction of a price. */
export interface CorrectionLimits {
  now: string;
  /** Prices of the model are known since then. */
  knownSince: string;
  /** The first recorded change of the price after the correction's start; `null` if it has not changed since. */
  nextChange: string | null;
}

/**
 * Finds the limits of a correction that begins at `from`; `null` if there is no such model. The transaction may have waited for
 * a sync, whose changes are later than its start.
 */
export async function findCorrectionLimits(
  sql: Sql,
  { provider, modelId }: ModelKey,
  { field, from }: { field: string; from: string },
): Promise<CorrectionLimits | null> {
  return firstRow(sql<CorrectionLimits[]>`
    select
      date_trunc('milliseconds', clock_timestamp()) as now,
      prices_known_since as known_since,
      (
        select min(changed_at)
        from model_price_changes as change
        where change.provider = models.provider and change.model_id = models.model_id
          and field = ${field} and changed_at > ${from}
      ) as next_change
    from models
    where provider = ${provider} and model_id = ${modelId}`);
}
