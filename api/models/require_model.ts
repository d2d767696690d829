/** Finds a model by key or alias. A failure names similar ones. */
import { ApiError } from "../../shared/errors.ts";
import { suggestNames } from "../../shared/suggestions.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import type { Catalog, CatalogEntry } from "./catalog.ts";

/** Throws NOT_FOUND, with similar ids in `details.suggestions`. */
export function requireModel(catalog: Catalog, key: ModelKey): CatalogEntry {
  const entry = catalog.find(key);
  if (entry) return entry;
  const { provider, modelId } = key;
  const live = catalog.entries.filter(({ row }) => row.removedAt === null);
  const own = live.filter(({ row }) => row.provider === provider);
  const name = `${provider}/${modelId}`;
  const message = `Model "${name}" not found`;
  if (own.length > 0)
    throw notFound({ reason: "model", message, suggestions: suggestNames(name, own.map(nameOf)) });
  // If the provider is unknown, suggest providers that have the same id.
  const others = live.filter(({ row }) => row.modelId === modelId).map(nameOf);
  throw notFound({ reason: "model", message, suggestions: suggestNames(name, others, { minSimilarity: 0 }) });
}

export interface AliasTarget {
  /** provider/modelId */
  target: string;
  entry: CatalogEntry;
}

/** Throws NOT_FOUND, with similar aliases in `details.suggestions`. */
export function requireAlias(catalog: Catalog, alias: string): AliasTarget {
  const found = catalog.aliases.get(alias);
  const target = found && `${found.row.provider}/${found.row.modelId}`;
  if (target && found.entry) return { target, entry: found.entry };
  const usable = [...catalog.aliases.values()].filter(({ row, entry }) => entry && !row.deprecated);
  const suggestions = suggestNames(
    alias,
    usable.map(({ row }) => row.alias),
  );
  if (target) {
    const message = `Alias "${alias}" stands for the model "${target}", which is not in the catalog`;
    throw notFound({ reason: "model", message, suggestions });
  }
  const isModel = catalog.entries.some((entry) => nameOf(entry) === alias);
  const message = isModel
    ? `"${alias}" is a model and not an alias: get it at /api/v1/models/${alias}`
    : `Alias "${alias}" not found`;
  throw notFound({ reason: "alias", message, suggestions });
}

function nameOf({ row }: CatalogEntry): string {
  return `${row.provider}/${row.modelId}`;
}

function notFound(given: { reason: "alias" | "model"; message: string; suggestions: string[] }): ApiError {
  const { reason, suggestions } = given;
  const names = suggestions.map((name) => `"${name}"`).join(", ");
  const message = names === "" ? given.message : `${given.message}. Did you mean ${names}?`;
  return new ApiError("NOT_FOUND", { message, details: { reason, suggestions } });
}

/** Elysia decodes a parameter but not the rest of a path. */
export function modelKey(params: { provider: string; "*": string }): ModelKey {
  return { provider: params.provider, modelId: decodeURIComponent(params["*"]) };
}
