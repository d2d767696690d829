/** Finds a model by key or alias. A failure names similar ones. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { modelName } from "../../shared/models/model_name.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import type { Catalog, CatalogEntry } from "./catalog.ts";
import { indexNames, type NameIndex } from "./similar_names.ts";

export const ModelPath = {
  provider: Type.String({ description: "Provider id", examples: ["openai"] }),
  modelId: Type.String({ description: "May contain slashes, plain or as %2F", examples: ["gpt-5"] }),
};

/** How operations of a model declare what `requireModel` throws. */
export const MODEL_NOT_FOUND = ["NOT_FOUND", { reason: "model", suggestions: ["openai/gpt-5"] }] as const;

/** Returns the index of a catalog's names. Requests with many unknown names pass one that makes it once. */
export type ListNames = () => NameIndex;

/** Throws NOT_FOUND, with similar ids in `details.suggestions`. */
export function requireModel(
  catalog: Catalog,
  key: ModelKey,
  names: ListNames = () => indexNames(catalog),
): CatalogEntry {
  const entry = catalog.find(key);
  if (entry) return entry;
  const suggestions = names().suggestModels(key);
  throw notFound({ reason: "model", message: TEXTS.NOT_FOUND.model(modelName(key)), suggestions });
}

interface AliasTarget {
  /** provider/modelId */
  target: string;
  entry: CatalogEntry;
}

/** Throws NOT_FOUND, with similar aliases in `details.suggestions`. */
export function requireAlias(
  catalog: Catalog,
  alias: string,
  names: ListNames = () => indexNames(catalog),
): AliasTarget {
  const found = catalog.aliases.get(alias);
  const target = found && modelName(found.row);
  if (target && found.entry) return { target, entry: found.entry };
  const suggestions = names().suggestAliases(alias);
  if (target) {
    const message = TEXTS.NOT_FOUND.aliasOfGone({ alias, model: target });
    throw notFound({ reason: "model", message, suggestions });
  }
  const isModel = catalog.entries.some(({ row }) => modelName(row) === alias);
  const message = isModel ? TEXTS.NOT_FOUND.modelNotAlias(alias) : TEXTS.NOT_FOUND.alias(alias);
  throw notFound({ reason: "alias", message, suggestions });
}

function notFound(options: { reason: "alias" | "model"; message: string; suggestions: string[] }): ApiError {
  const { reason, suggestions } = options;
  const message = TEXTS.NOT_FOUND.similar(options.message, suggestions);
  return new ApiError("NOT_FOUND", { message, details: { reason, suggestions } });
}
