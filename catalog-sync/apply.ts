/** Writes a sync plan. Call inside the transaction that read the stored catalog. */

import type { Sql } from "../sql/connection/pool.ts";
import { deleteHeldPrices, upsertHeldPrices } from "../sql/models/held_prices.ts";
import { upsertGeneratedAliases } from "../sql/models/model_aliases.ts";
import { markModelProvidersGone, upsertModelProviders } from "../sql/models/model_providers.ts";
import { markModelsGone, markModelsStale, upsertModels } from "../sql/models/models.ts";
import type { SyncPlan } from "./plan.ts";

/** Writes the plan, one statement per table. */
export async function applyPlan(tx: Sql, plan: SyncPlan): Promise<void> {
  await upsertModelProviders(tx, plan.providers);
  await upsertModels(tx, [...plan.inserted, ...plan.updated]);
  await markModelsGone(tx, plan.gone);
  await markModelsStale(tx, plan.stale);
  await deleteHeldPrices(tx, plan.released);
  await upsertHeldPrices(tx, plan.held);
  await markModelProvidersGone(tx, plan.goneProviders);
  await upsertGeneratedAliases(tx, plan.aliases);
}
