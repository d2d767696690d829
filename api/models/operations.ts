/** The operations of the model catalog. */
import type { AnyOperation } from "../http/operation.ts";
import { computeCost } from "./cost.ts";
import { listHeldPrices } from "./held.ts";
import { listModels, listModelsCsv } from "./list.ts";
import { getModel, listModelAliases, listModelProviders, resolveModelAlias } from "./lookup.ts";
import { listModelPriceChanges, listRecentPriceChanges } from "./price_history.ts";

export const MODEL_OPERATIONS: readonly AnyOperation[] = [
  listModels,
  listModelsCsv,
  computeCost,
  listModelPriceChanges,
  listRecentPriceChanges,
  listHeldPrices,
  listModelProviders,
  listModelAliases,
  resolveModelAlias,
  getModel,
];
