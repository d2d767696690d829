/** The query parameters of GET /models and GET /models.csv. */
import { oneOf } from "../../../shared/schemas.ts";
import { MODEL_CAPABILITIES, MODEL_STATUSES, MODEL_TIERS } from "../../../shared/vocabulary.ts";
import {
  choice,
  decimal,
  flag,
  integer,
  limit,
  mapped,
  OFFSET,
  type QueryValues,
  text,
  word,
  words,
} from "../../http/query.ts";

const MAX_TEXT_LENGTH = 500;
/** Bounds of the price filters, in USD per million tokens. */
const COST_BOUNDS = { min: 0, max: 1_000_000 };

/** Query parameters of GET /models.csv, which filter and sort models. */
export const SELECTION_QUERY = {
  provider: text(MAX_TEXT_LENGTH, "Models of this provider"),
  tier: choice(MODEL_TIERS, "Models of this tier"),
  status: choice(MODEL_STATUSES, "Models of this status"),
  capability: words(MODEL_CAPABILITIES, "Models with all of these capabilities; repeatable"),
  search: mapped(
    text(MAX_TEXT_LENGTH, "Part of name, id or `provider/modelId`, ignoring case"),
    (value) => value?.trim().toLowerCase() || null,
  ),
  minInputCost: decimal(
    COST_BOUNDS,
    "Lowest input price, in USD per million tokens; 1e-9 excludes free models only",
  ),
  maxInputCost: decimal(COST_BOUNDS, "Highest input price, in USD per million tokens"),
  minContext: integer({ min: 1, max: 1_000_000_000, unset: null }, "Smallest context, in tokens"),
  openWeights: flag(null, "Only models with open weights, or only those without"),
  includeGone: flag(false, "Include models that the source no longer lists; they have `goneAt`"),
  sortBy: choice(
    ["name", "releaseDate", "inputCost", "outputCost", "cacheReadCost", "contextLimit"],
    "Sort key; models without it come last",
  ),
  sortOrder: word(["asc", "desc"], "Sort direction"),
};

export type ModelSelection = QueryValues<typeof SELECTION_QUERY>;

export const MODEL_LIST_QUERY = {
  ...SELECTION_QUERY,
  facets: flag(false, "Return in `facets` how many models there are by the values of these filters"),
  limit: limit({ max: 200, unset: 50 }, "Page size"),
  offset: OFFSET,
  // The OpenAPI document describes `csv` as a separate operation.
  format: {
    ...word(["json", "csv"], "`json`, a page"),
    schema: oneOf(["json"], { default: "json" }),
  },
};

export type ListParameters = QueryValues<typeof MODEL_LIST_QUERY>;
