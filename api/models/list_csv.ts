/** A list of models as CSV, by the same rules as exports (docs/contract.md, Exports). */
import { setImmediate } from "node:timers/promises";
import Big from "big.js";
import { BYTE_ORDER_MARK, type CsvValue, csvLine } from "../../shared/exports/csv_syntax.ts";
import { MODEL_CAPABILITIES } from "../../shared/vocabulary.ts";
import { modelPrices } from "../../sql/models/model_prices.ts";
import type { ModelRow } from "../../sql/models/models.ts";
import { CAPABILITY_COLUMNS } from "./model_json.ts";
import { presentCost } from "./price_json.ts";

/** Columns by the path of the value in JSON. */
const COLUMNS: Readonly<Record<string, (row: ModelRow) => CsvValue>> = {
  provider: (row) => row.provider,
  modelId: (row) => row.modelId,
  name: (row) => row.name,
  family: (row) => row.family,
  tier: (row) => row.tier,
  status: (row) => row.status,
  ...Object.fromEntries(
    MODEL_CAPABILITIES.map((name) => [
      `capabilities.${name}`,
      (row: ModelRow) => row[CAPABILITY_COLUMNS[name]],
    ]),
  ),
  capabilitiesStated: (row) => JSON.stringify(row.capabilitiesStated),
  "modalities.input": (row) => JSON.stringify(row.inputModalities),
  "modalities.output": (row) => JSON.stringify(row.outputModalities),
  "cost.input": (row) => formatPrice(row.inputUsdPerMtok),
  "cost.output": (row) => formatPrice(row.outputUsdPerMtok),
  "cost.cacheRead": (row) => formatPrice(row.cacheReadUsdPerMtok),
  "cost.cacheWrite": (row) => formatPrice(row.cacheWriteUsdPerMtok),
  "cost.reasoning": (row) => formatPrice(row.pricing?.["reasoning"]),
  "cost.inputAudio": (row) => formatPrice(row.pricing?.["inputAudio"]),
  "cost.outputAudio": (row) => formatPrice(row.pricing?.["outputAudio"]),
  "cost.tiers": formatTiers,
  "limits.context": (row) => row.contextTokens,
  "limits.input": (row) => row.inputTokens,
  "limits.output": (row) => row.outputTokens,
  releaseDate: (row) => row.releaseDate,
  knowledgeCutoff: (row) => row.knowledgeCutoff,
  openWeights: (row) => row.isOpenWeights,
  goneAt: (row) => row.removedAt,
};

const READERS = Object.values(COLUMNS);
/** Formatting them takes about 5 ms; then other requests get their turn. */
const ROWS_PER_CHUNK = 100;

/** Yields the file: byte order mark and header first, then rows as the client reads them. */
export async function* streamModelsCsv(rows: readonly ModelRow[]): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from(BYTE_ORDER_MARK + csvLine(Object.keys(COLUMNS)));
  for (let start = 0; start < rows.length; start += ROWS_PER_CHUNK) {
    const lines = rows
      .slice(start, start + ROWS_PER_CHUNK)
      .map((row) => csvLine(READERS.map((read) => read(row))));
    yield Buffer.from(lines.join(""));
    await setImmediate();
  }
}

/** Writes a price without an exponent: not every reader of CSV takes 1e-7 for a number. */
function formatPrice(price: number | null | undefined): string | null {
  return price === null || price === undefined ? null : new Big(price).toFixed();
}

function formatTiers(row: ModelRow): string | null {
  const tiers = row.pricing && presentCost(modelPrices(row))?.tiers;
  return tiers ? JSON.stringify(tiers) : null;
}
