/** Creates catalog documents in the format of models.dev's api.json, and syncs them. */
import { join } from "node:path";
import { bundledSource, type CatalogSource } from "../../../catalog-sync/source.ts";
import { readDocument } from "../../../catalog-sync/source_document.ts";
import { type SyncReport, syncCatalog } from "../../../catalog-sync/sync.ts";
import { createLog } from "../../../shared/process/log.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

export type DocumentRow = Record<string, unknown>;
/** Fields that override the defaults, by provider and model. */
export type DocumentModels = Readonly<Record<string, Readonly<Record<string, DocumentRow>>>>;

/** Returns a complete model entry of a source document. `fields` overrides its values. */
export function sourceRow(id: string, fields: DocumentRow = {}): DocumentRow {
  return {
    id,
    name: id,
    attachment: false,
    reasoning: false,
    tool_call: true,
    structured_output: true,
    open_weights: false,
    release_date: "2025-06-01",
    last_updated: "2025-06-01",
    modalities: { input: ["text"], output: ["text"] },
    cost: { input: 1, output: 2 },
    limit: { context: 128_000, output: 8192 },
    ...fields,
  };
}

/** Returns a document with these models. `providers` overrides fields of providers. */
export function makeDocument(
  models: DocumentModels,
  providers: Readonly<Record<string, DocumentRow>> = {},
): Record<string, DocumentRow> {
  return Object.fromEntries(
    Object.entries(models).map(([id, rows]) => [
      id,
      {
        id,
        name: `Provider ${id}`,
        doc: `https://${id}.example/docs`,
        npm: "@ai-sdk/openai-compatible",
        env: ["KEY"],
        models: Object.fromEntries(
          Object.entries(rows).map(([modelId, fields]) => [modelId, sourceRow(modelId, fields)]),
        ),
        ...providers[id],
      },
    ]),
  );
}

/** Returns a catalog source that loads this document. */
export function documentSource(value: unknown, etag: string | null = null): CatalogSource {
  return {
    label: "test",
    load: async () => ({ isUnchanged: false, value: structuredClone(value), etag }),
  };
}

export interface TestSyncOptions {
  force?: boolean;
  shutdownSignal?: AbortSignal;
  /** Called for every log line. */
  onLine?: (line: string) => void;
}

/** Syncs a catalog source into a test's database. */
export async function syncFrom(
  sql: Pool,
  source: CatalogSource,
  { force = false, shutdownSignal = new AbortController().signal, onLine = () => {} }: TestSyncOptions = {},
): Promise<SyncReport> {
  const log = createLog({ level: "info", process: "test", destination: { write: onLine } });
  return syncCatalog({ sql, log, shutdownSignal }, { source, force });
}

/** The documents that models.dev published on two days. Replaying the bundled price history must reproduce both. */
export const SNAPSHOTS = [
  { path: "test/fixtures/catalog/models-2026-04-02.json.gz", at: "2026-04-02T23:01:00.000Z", models: 4123 },
  { path: "shared/models/bundled/models.json.gz", at: "2026-07-01T16:40:28.000Z", models: 5276 },
] as const;

/** Reads one of SNAPSHOTS. Throws if it is not a valid source document. */
export async function readSnapshot({ path }: (typeof SNAPSHOTS)[number]) {
  const bytes = await Bun.file(join(import.meta.dir, "../../..", path)).bytes();
  const result = readDocument(JSON.parse(new TextDecoder().decode(Bun.gunzipSync(bytes))));
  if (!result.ok) throw new Error(`Cannot read ${path}: ${result.reason}`);
  return result.document;
}

/** Loads the bundled catalog: 147 providers, 5,276 models. */
export async function loadBundledCatalog(sql: Pool): Promise<void> {
  const report = await syncFrom(sql, bundledSource());
  if (report.outcome !== "changed") throw new Error(`Cannot load the catalog: ${JSON.stringify(report)}`);
}
