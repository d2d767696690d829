/** Finds a model by key or alias. Errors suggest similar names. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { modelName, parseModelName } from "../../shared/models/model_name.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import type { Catalog, CatalogEntry } from "./catalog.ts";
import { namesOf } from "./similar_names.ts";

export const ModelPath = {
  provider: Type.String({ description: "Provider id", examples: ["openai"] }),
  modelId: Type.String({ description: "May contain slashes, plain or as %2F", examples: ["gpt-5"] }),
};

/** Error of `requireModel`, for the declarations of operations. */
export const MODEL_NOT_FOUND = ["NOT_FOUND", { reason: "model", suggestions: ["openai/gpt-5"] }] as const;

/** Returns a model. Throws NOT_FOUND with similar ids in `details.suggestions`. */
export function requireModel(catalog: Catalog, key: ModelKey): CatalogEntry {
  const entry = catalog.find(key);
  if (entry) return entry;
  const suggestions = namesOf(catalog).suggestModels(key);
  throw notFound({ reason: "model", message: TEXTS.NOT_FOUND.model(modelName(key)), suggestions });
}

/** Returns the model of an alias. Throws NOT_FOUND with similar aliases in `details.suggestions`. */
export function requireAlias(catalog: Catalog, alias: string): CatalogEntry {
  const found = catalog.aliases.get(alias);
  if (found?.entry) return found.entry;
  const suggestions = namesOf(catalog).suggestAliases(alias);
  if (found) {
    const message = TEXTS.NOT_FOUND.aliasOfGone({ alias, model: modelName(found.row) });
    throw notFound({ reason: "model", message, suggestions });
  }
  const isModel = catalog.find(parseModelName(alias)) !== undefined;
  const message = isModel ? TEXTS.NOT_FOUND.modelNotAlias(alias) : TEXTS.NOT_FOUND.alias(alias);
  throw notFound({ reason: "alias", message, suggestions });
}

function notFound(options: { reason: "alias" | "model"; message: string; suggestions: string[] }): ApiError {
  const { reason, suggestions } = options;
  const message = TEXTS.NOT_FOUND.similar(options.message, suggestions);
  return new ApiError("NOT_FOUND", { message, details: { reason, suggestions } });
}
