/** The catalog in memory. Response contents are built once per catalog version. */
import { LRUCache } from "lru-cache";
import type { CatalogSnapshot } from "../../sql/models/catalog_snapshot.ts";
import type { CatalogVersion } from "../../sql/models/catalog_syncs.ts";
import type { ModelAliasRow } from "../../sql/models/model_aliases.ts";
import { type ModelKey, type ModelRow, modelKeyText } from "../../sql/models/models.ts";
import { presentAlias, presentListItem, presentModel, presentOrigin, presentProvider } from "./model_json.ts";
import type { Alias, CatalogOrigin, ModelSummary, Provider } from "./schemas.ts";

/** A model with its prepared response contents. */
export interface CatalogEntry {
  row: ModelRow;
  /** Name and model id in lower case, separated by a line break. */
  searchText: string;
  listItem: ModelSummary;
  /** JSON of the full model without `syncedAt`. */
  modelJson: string;
  aliases: Alias[];
}

interface ResolvedAlias {
  row: ModelAliasRow;
  alias: Alias;
  /** The model of the alias; `undefined` if an operator's alias names a model that does not exist. */
  entry: CatalogEntry | undefined;
}

/** An immutable version of the catalog. */
export interface Catalog {
  version: CatalogVersion;
  /** Strong ETag, which is the same in every process with the same content. */
  etag: string;
  /** All models in order of provider and id, including gone models. */
  entries: readonly CatalogEntry[];
  /** Finds a model, even if it is gone. */
  find(key: ModelKey): CatalogEntry | undefined;
  /** Aliases by name, in sorted order. */
  aliases: ReadonlyMap<string, ResolvedAlias>;
  /** Active providers, sorted by id. */
  providers: readonly Provider[];
  origin: CatalogOrigin;
  /** JSON of list pages by query string. */
  pages: LRUCache<string, string>;
}

/** Cached characters of pages and their keys, about 300 full pages. */
const MAX_CACHED = 8 * 2 ** 20;

export function buildCatalog({ version, providers, models, aliases }: CatalogSnapshot): Catalog {
  const entries = models.map(toEntry);
  const byKey = new Map(entries.map((entry) => [modelKeyText(entry.row), entry]));
  const find = (key: ModelKey) => byKey.get(modelKeyText(key));
  const byAlias = new Map<string, ResolvedAlias>();
  // An operator's alias follows the generated alias and overrides it.
  for (const row of aliases) {
    const entry = find(row);
    byAlias.set(row.alias, { row, alias: presentAlias(row, entry?.row), entry });
  }
  for (const { alias, entry } of byAlias.values()) entry?.aliases.push(alias);
  const active = providers.filter((provider) => provider.removedAt === null).map(presentProvider);
  const origin = presentOrigin(version);
  return {
    version,
    etag: digest(
      entries,
      [...byAlias.values()].map(({ alias }) => alias),
      active,
      origin,
    ),
    entries,
    find,
    aliases: byAlias,
    providers: active,
    origin,
    pages: new LRUCache({
      maxSize: MAX_CACHED,
      sizeCalculation: (page, query) => page.length + query.length,
    }),
  };
}

function toEntry(row: ModelRow): CatalogEntry {
  return {
    row,
    searchText: `${row.name}\n${row.modelId}`.toLowerCase(),
    listItem: presentListItem(row),
    modelJson: JSON.stringify(presentModel(row)),
    aliases: [],
  };
}

/** Hashes the content of all lists. The time of the last sync is excluded, because no list contains it. */
function digest(entries: readonly CatalogEntry[], ...others: readonly object[]): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const { row, modelJson } of entries) hasher.update(`${row.removedAt === null}${modelJson}\n`);
  for (const other of others) hasher.update(`${JSON.stringify(other)}\n`);
  return `"${hasher.digest("hex").slice(0, 32)}"`;
}

/** Compares texts by code units, so that the order is the same on every machine. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
