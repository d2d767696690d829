/** Sends the list of models as CSV, by the same rules as exports (docs/contract.md, Exports). */
import { setImmediate } from "node:timers/promises";
import Big from "big.js";
import { BYTE_ORDER_MARK, type CsvValue, csvCell } from "../../../shared/exports/csv_cell.ts";
import { contentDisposition } from "../../../shared/exports/file_names.ts";
import { MODEL_CAPABILITIES, PRICE_FIELDS } from "../../../shared/vocabulary.ts";
import { FORMATS } from "../../../sql/exports/dataset_file.ts";
import { reply } from "../../http/operation.ts";
import { announceStream, requestContext } from "../../http/request_context.ts";
import {
  type ContentEncoding,
  chooseEncoding,
  compress,
  encodedTag,
} from "../../http/response/content_encoding.ts";
import { countBytes, responseStream, STREAM_RULES } from "../../http/response/stream.ts";
import type { Catalog, CatalogEntry } from "../catalog.ts";
import type { CatalogCache } from "../catalog_cache.ts";
import { CAPABILITY_COLUMNS } from "../model_json.ts";
import type { ModelSelection } from "./list_parameters.ts";
import { selectModels } from "./select_models.ts";

const RULES = { ...STREAM_RULES, maxMs: 10 * 60_000 };

const FILE_HEADERS = {
  "Content-Type": FORMATS.csv.contentType,
  "Content-Disposition": contentDisposition({ ascii: "models.csv", full: "models.csv" }),
};

/** Returns the response with the file, which is generated while the client reads it. */
export async function replyCsv(request: Request, cache: CatalogCache, query: ModelSelection) {
  const catalog = await cache.current();
  const { etag } = catalog;
  const encoding = chooseEncoding(request.headers.get("accept-encoding"));
  const headers = {
    ...FILE_HEADERS,
    Vary: "Accept-Encoding",
    ...(encoding ? { "Content-Encoding": encoding, ETag: encodedTag(etag, encoding) } : {}),
  };
  return reply(200, () => openCsv(request, cache, { catalog, query, encoding }), { etag, headers });
}

/** Returns the stream of the file. Throws RATE_LIMITED or SERVICE_UNAVAILABLE if too many downloads are running. */
function openCsv(
  request: Request,
  { downloads }: CatalogCache,
  options: { catalog: Catalog; query: ModelSelection; encoding: ContentEncoding | null },
): ReadableStream<Uint8Array> {
  const { catalog, query, encoding } = options;
  const { caller, network } = requestContext(request);
  const permit = downloads.take({ holder: caller?.userId ?? network, group: null });
  const lines = streamModelsCsv(selectModels(catalog, query));
  const endStream = announceStream(request);
  let bytes = 0;
  const chunks = countBytes(encoding ? compress(lines, encoding) : lines, (length) => {
    bytes += length;
  });
  return responseStream(chunks, {
    abort: new AbortController(),
    // The catalog is public, so access never ends.
    watch: { rules: RULES, permit, mayContinue: async () => true },
    connection: requestContext(request).connection,
    onSourceEnd: async () => permit.release(),
    onEnd: (end) => endStream({ ...end, bytes }),
  });
}

/** CSV columns, named after the paths of the values in JSON. */
const COLUMNS: Readonly<Record<string, (entry: CatalogEntry) => CsvValue>> = {
  provider: ({ row }) => row.provider,
  modelId: ({ row }) => row.modelId,
  name: ({ row }) => row.name,
  family: ({ row }) => row.family,
  tier: ({ row }) => row.tier,
  status: ({ row }) => row.status,
  ...Object.fromEntries(
    MODEL_CAPABILITIES.map((name) => [
      `capabilities.${name}`,
      ({ row }: CatalogEntry) => row[CAPABILITY_COLUMNS[name]],
    ]),
  ),
  capabilitiesStated: ({ row }) => JSON.stringify(row.capabilitiesStated),
  "modalities.input": ({ row }) => JSON.stringify(row.inputModalities),
  "modalities.output": ({ row }) => JSON.stringify(row.outputModalities),
  ...Object.fromEntries(
    PRICE_FIELDS.map((field) => [`cost.${field}`, ({ row }: CatalogEntry) => formatPrice(row.prices[field])]),
  ),
  "cost.tiers": formatTiers,
  "limits.context": ({ row }) => row.contextTokens,
  "limits.input": ({ row }) => row.inputTokens,
  "limits.output": ({ row }) => row.outputTokens,
  releaseDate: ({ row }) => row.releaseDate,
  knowledgeCutoff: ({ row }) => row.knowledgeCutoff,
  openWeights: ({ row }) => row.isOpenWeights,
  goneAt: ({ row }) => row.removedAt,
};

const READERS = Object.values(COLUMNS);
/** Formatting a chunk takes about 5 ms. Other requests run between chunks. */
const ROWS_PER_CHUNK = 100;

/** Yields the byte order mark and header, then the rows as the client reads them. */
async function* streamModelsCsv(entries: readonly CatalogEntry[]): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from(BYTE_ORDER_MARK + csvLine(Object.keys(COLUMNS)));
  for (let start = 0; start < entries.length; start += ROWS_PER_CHUNK) {
    const lines = entries
      .slice(start, start + ROWS_PER_CHUNK)
      .map((entry) => csvLine(READERS.map((read) => read(entry))));
    yield Buffer.from(lines.join(""));
    await setImmediate();
  }
}

/** Formats a price without an exponent, because some CSV readers do not parse 1e-7 as a number. */
function formatPrice(price: number | undefined): string | null {
  return price === undefined ? null : new Big(price).toFixed();
}

function formatTiers({ listItem }: CatalogEntry): string | null {
  const tiers = listItem.cost?.tiers;
  return tiers ? JSON.stringify(tiers) : null;
}

function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(csvCell).join(",")}\r\n`;
}
