/** The parts of the catalog's responses as JSON Schema, and an example of each. */
import {
  COUNT,
  FLAG,
  INSTANT,
  listOf,
  named,
  nullable,
  oneOf,
  record,
  TEXT,
} from "../../shared/json_schema.ts";
import {
  MODEL_ALIAS_SCOPES,
  MODEL_CAPABILITIES,
  MODEL_STATUSES,
  MODEL_TIERS,
  PRICE_FIELDS,
} from "../../shared/vocabulary.ts";

const URI = { type: "string", format: "uri" };
const TOKENS = { type: "integer", minimum: 1 };
const PRICE = { type: "number", minimum: 0 };
const DATE = nullable({ type: "string", format: "date" });
const TEXTS = listOf(TEXT);

/** Prices of kinds of tokens. */
export const PRICE_PARTS = Object.fromEntries(PRICE_FIELDS.map((field) => [field, PRICE]));

const PRICE_TIER = named(
  "PriceTier",
  record({ contextOver: TOKENS, ...PRICE_PARTS }, Object.keys(PRICE_PARTS)),
);

const SHARED_FIELDS = {
  provider: TEXT,
  modelId: TEXT,
  name: TEXT,
  family: nullable({ ...TEXT, description: "Null when unknown" }),
  tier: {
    ...oneOf(MODEL_TIERS),
    description: "Derived: `reasoning` from the family and id, the others from the price",
  },
  status: oneOf(MODEL_STATUSES),
  capabilities: {
    ...record(Object.fromEntries(MODEL_CAPABILITIES.map((name) => [name, FLAG]))),
    description:
      "`streaming` is derived from the modalities and the id. Any other capability is true only if the source says so; " +
      "false means no, or that the source does not say: see `capabilitiesStated`",
  },
  capabilitiesStated: {
    ...listOf(oneOf(MODEL_CAPABILITIES)),
    description: "The capabilities that the source states, as true or false",
  },
  limits: {
    ...record({ context: TOKENS, input: TOKENS, output: TOKENS }, ["context", "input", "output"]),
    type: ["object", "null"],
    description:
      "Tokens; an unknown limit is omitted. `input` is the largest prompt, where the source limits it",
  },
  cost: {
    ...record({ ...PRICE_PARTS, tiers: listOf(PRICE_TIER) }, [
      ...Object.keys(PRICE_PARTS).filter((part) => part !== "input"),
      "tiers",
    ]),
    type: ["object", "null"],
    description:
      "USD per million tokens; an unknown price is omitted. A tier applies to requests with more than `contextOver` " +
      "tokens of context; prices it omits stay the same",
  },
  releaseDate: DATE,
  goneAt: { ...INSTANT, description: "When the source stopped listing the model; only on such models" },
  staleSince: {
    ...INSTANT,
    description:
      "Since when the source's row of the model cannot be read; only on such models, which stay as they were",
  },
};

export const SUMMARY = named("ModelSummary", record(SHARED_FIELDS, ["goneAt", "staleSince"]));

export const MODEL = named(
  "Model",
  record(
    {
      ...SHARED_FIELDS,
      description: nullable({ ...TEXT, description: "The source's own; null if it has none" }),
      providerModelId: TEXT,
      modalities: record({ input: TEXTS, output: TEXTS }),
      knowledgeCutoff: DATE,
      openWeights: FLAG,
      logoUrl: nullable(URI),
      pricesKnownSince: {
        ...INSTANT,
        description: "The first known instant of its prices; `asOf` reaches back to it",
      },
      pricesFrom: {
        ...INSTANT,
        description: "When the prices came into effect, as far as they are known; only with `asOf`",
      },
      syncedAt: { ...INSTANT, description: "When the catalog was last compared with its source" },
    },
    ["goneAt", "staleSince", "pricesFrom"],
  ),
);

export const PROVIDER = named(
  "Provider",
  record(
    {
      id: TEXT,
      name: TEXT,
      status: { type: "string", enum: ["active"] },
      logoUrl: nullable(URI),
      docUrl: nullable({ ...URI, description: "The provider's documentation; null when unknown" }),
      apiUrl: { ...URI, description: "Omitted when unknown" },
    },
    ["apiUrl"],
  ),
);

export const ORIGIN = named(
  "CatalogOrigin",
  record({
    source: nullable({
      ...TEXT,
      description:
        "`bundled` (the copy that comes with the service), `file`, or the host it was downloaded from",
    }),
    dataDate: nullable({
      type: "string",
      format: "date",
      description: "The newest update in the data: how old the catalog is. Null when unknown",
    }),
  }),
);

const COUNTS = { type: "object", additionalProperties: COUNT };

export const FACETS = named("ModelFacets", {
  ...record({ provider: COUNTS, tier: COUNTS, status: COUNTS, capability: COUNTS, openWeights: COUNTS }),
  description:
    "Models by value: how many a list with that value has. The filter of the same name does not count, except `capability`, " +
    "which can be added to. Only with `facets=true`; values without a model are omitted",
});

export const ALIAS = named(
  "Alias",
  record({
    alias: TEXT,
    provider: TEXT,
    modelId: TEXT,
    scope: oneOf(MODEL_ALIAS_SCOPES),
    deprecated: {
      type: "boolean",
      description: "Its model is deprecated, or the alias is kept only for existing users",
    },
  }),
);

export const PRICE_CHANGE = named(
  "PriceChange",
  record({
    field: {
      ...TEXT,
      description:
        "The part of `cost`, such as `input`, or `tiers.200000.input` for a tier above 200,000 tokens",
    },
    oldValue: { type: ["number", "null"] },
    newValue: { type: ["number", "null"] },
    changedAt: INSTANT,
  }),
);

export const PRICE_CORRECTION = named(
  "PriceCorrection",
  record({
    field: TEXT,
    value: { type: ["number", "null"], description: "Null if the price is not known" },
    validFrom: INSTANT,
    validTo: INSTANT,
    reason: TEXT,
    knownFrom: { ...INSTANT, description: "When it was added; with an earlier `knownAt` it does not count" },
  }),
);

export const MODEL_PRICE_CHANGES = named(
  "ModelPriceChanges",
  record({ provider: TEXT, modelId: TEXT, changes: listOf(PRICE_CHANGE) }),
);

const SEEN = {
  firstSeenAt: INSTANT,
  lastSeenAt: INSTANT,
  timesSeen: { type: "integer", minimum: 1, description: "Syncs that found it" },
  rejected: { ...FLAG, description: "An operator said that it is wrong: it is not taken" },
};

export const HELD_PRICES = named(
  "HeldPrices",
  record({
    provider: TEXT,
    modelId: TEXT,
    changes: listOf(
      record({
        field: TEXT,
        oldValue: { type: ["number", "null"], description: "The price that applies" },
        newValue: { type: ["number", "null"], description: "The price of the source" },
      }),
    ),
    ...SEEN,
  }),
);

export const HELD_DOCUMENT = named("HeldDocument", record({ reason: TEXT, ...SEEN }));

const EXAMPLE_KEY = { provider: "openai", modelId: "gpt-5" };
export const EXAMPLE_ITEM = {
  ...EXAMPLE_KEY,
  name: "GPT-5",
  family: "gpt",
  tier: "standard",
  status: "available",
  capabilities: {
    vision: true,
    tools: true,
    streaming: true,
    reasoning: true,
    structuredOutput: true,
    attachment: true,
  },
  capabilitiesStated: ["vision", "tools", "reasoning", "structuredOutput", "attachment"],
  limits: { context: 400_000, input: 272_000, output: 128_000 },
  cost: { input: 1.25, output: 10, cacheRead: 0.125 },
  releaseDate: "2025-08-07",
};
export const EXAMPLE_MODEL = {
  ...EXAMPLE_ITEM,
  description: null,
  providerModelId: "gpt-5",
  modalities: { input: ["text", "image"], output: ["text"] },
  knowledgeCutoff: "2024-09-30",
  openWeights: false,
  logoUrl: "https://models.dev/logos/openai.svg",
  pricesKnownSince: "2025-08-07T17:59:07.000Z",
  syncedAt: "2026-11-20T10:00:00.000Z",
};
export const EXAMPLE_ALIAS = { alias: "gpt", ...EXAMPLE_KEY, scope: "global", deprecated: false };
export const EXAMPLE_ORIGIN = { source: "models.dev", dataDate: "2026-11-19" };
export const EXAMPLE_PRICE_CHANGE = {
  field: "cacheRead",
  oldValue: 0.13,
  newValue: 0.125,
  changedAt: "2026-01-20T16:03:07.000Z",
};
export const EXAMPLE_HELD = {
  provider: "openrouter",
  modelId: "deepseek/deepseek-chat",
  changes: [
    { field: "input", oldValue: 0.2002, newValue: 0 },
    { field: "output", oldValue: 0.8001, newValue: 0 },
  ],
  firstSeenAt: "2026-06-25T18:23:01.000Z",
  lastSeenAt: "2026-06-25T18:23:01.000Z",
  timesSeen: 1,
  rejected: false,
};
