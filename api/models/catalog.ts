/** The catalog in memory, serialized once: a response is a lookup and some concatenated JSON. */
import { LRUCache } from "lru-cache";
import type { CatalogSnapshot } from "../../sql/models/catalog_snapshot.ts";
import type { ModelAliasRow } from "../../sql/models/model_aliases.ts";
import { type ModelKey, type ModelRow, modelKeyText } from "../../sql/models/models.ts";
import { presentAlias, presentListItem, presentModel, presentOrigin, presentProvider } from "./model_json.ts";

/** A model and its JSON. */
export interface CatalogEntry {
  row: ModelRow;
  /** Name, line break and id in lower case. */
  searchText: string;
  /** JSON of the item in lists. */
  itemJson: string;
  /** JSON of the full model without `syncedAt`. */
  modelJson: string;
  /** JSON of its aliases, joined by commas; may be empty. */
  aliasesJson: string;
}

interface ResolvedAlias {
  row: ModelAliasRow;
  /** `undefined` if an operator's alias names a model that does not exist. */
  entry: CatalogEntry | undefined;
}

/** One version of the catalog; immutable. */
export interface Catalog {
  /** Strong; the same in every process with the same content. */
  etag: string;
  /** All models by provider and id, including those that are gone. */
  entries: readonly CatalogEntry[];
  /** Finds a model, also one that is gone. */
  find(key: ModelKey): CatalogEntry | undefined;
  /** Aliases by name, sorted. */
  aliases: ReadonlyMap<string, ResolvedAlias>;
  /** Response bodies of the two lists without parameters. */
  aliasesBody: string;
  providersBody: string;
  /** JSON of the data's source and age. */
  originJson: string;
  /** Pages of the list by query. */
  pages: LRUCache<string, string>;
}

/** Characters of pages and their keys that are cached: some 300 full pages. */
const MAX_CACHED = 8 * 2 ** 20;

export function buildCatalog({ version, providers, models, aliases }: CatalogSnapshot): Catalog {
  const entries = models.toSorted(compareKeys).map(toEntry);
  const byKey = new Map(entries.map((entry) => [modelKeyText(entry.row), entry]));
  const find = (key: ModelKey) => byKey.get(modelKeyText(key));
  const byAlias = new Map<string, ResolvedAlias>();
  for (const row of aliases.toSorted((a, b) => compareTexts(a.alias, b.alias))) {
    // An operator's alias overrides the generated one.
    if (row.origin === "manual" || !byAlias.has(row.alias)) byAlias.set(row.alias, { row, entry: find(row) });
  }
  const aliasTexts: string[] = [];
  for (const { row, entry } of byAlias.values()) {
    const text = JSON.stringify(presentAlias(row, entry?.row));
    aliasTexts.push(text);
    if (entry) entry.aliasesJson += entry.aliasesJson === "" ? text : `,${text}`;
  }
  const active = providers
    .filter((provider) => provider.removedAt === null)
    .toSorted((a, b) => compareTexts(a.id, b.id))
    .map((provider) => JSON.stringify(presentProvider(provider)));
  const aliasesBody = `{"data":{"aliases":[${aliasTexts.join(",")}],"total":${aliasTexts.length}}}`;
  const providersBody = `{"data":{"providers":[${active.join(",")}],"total":${active.length}}}`;
  const originJson = JSON.stringify(presentOrigin(version));
  return {
    etag: digest(entries, aliasesBody, providersBody, originJson),
    entries,
    find,
    aliases: byAlias,
    aliasesBody,
    providersBody,
    originJson,
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
    itemJson: JSON.stringify(presentListItem(row)),
    modelJson: JSON.stringify(presentModel(row)),
    aliasesJson: "",
  };
}

/** Hashes everything that lists contain. The time of the last sync, which changes with every sync, is in no list. */
function digest(entries: readonly CatalogEntry[], ...bodies: readonly string[]): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const { row, modelJson } of entries) hasher.update(`${row.removedAt === null}${modelJson}\n`);
  for (const body of bodies) hasher.update(`${body}\n`);
  return `"${hasher.digest("hex").slice(0, 32)}"`;
}

function compareKeys(a: ModelKey, b: ModelKey): number {
  return compareTexts(a.provider, b.provider) || compareTexts(a.modelId, b.modelId);
}

/** Compares by code units, which is the same on every machine. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
