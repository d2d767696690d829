/** Table `model_price_corrections`: corrections of past prices by operators. Recorded prices are unchanged. */
import { firstRow, onlyRow, type Sql } from "../connection/pool.ts";
import type { ModelKey } from "./models.ts";

export interface PriceCorrection {
  /** The price's name in the API, such as `input`. */
  field: string;
  /** USD per million tokens; `null` if the price is not known. */
  value: number | null;
  validFrom: string;
  /** The time from which the recorded price applies again. */
  validTo: string;
  reason: string;
}

export interface PriceCorrectionRow extends PriceCorrection {
  knownFrom: string;
}

/**
 * Adds a correction that is known from now on. `known_from` is read from the clock, because the transaction may have waited for a
 * lock.
 */
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

/** The times that bound a price correction, and its default end. */
export interface CorrectionLimits {
  now: string;
  /** Start of the model's known price history. */
  knownSince: string;
  /** Time of the first recorded change of the price after the start of the correction; `null` if the price did not change. */
  nextChange: string | null;
}

/**
 * Finds the limits of a correction that begins at `from`; `null` if the model does not exist. `now` is read from the clock, because
 * the transaction may have waited for a sync that recorded changes after the transaction's start.
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
