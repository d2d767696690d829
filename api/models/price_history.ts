/** Lists the price changes of one model or several models. */
import { Type } from "@sinclair/typebox";
import { parseModelName } from "../../shared/models/model_name.ts";
import { Count, data, Instant, listOf, Nullable, Text } from "../../shared/schemas.ts";
import { PRICE_FIELDS } from "../../shared/vocabulary.ts";
import { listPriceChanges } from "../../sql/models/model_price_changes.ts";
import { listPriceCorrections } from "../../sql/models/model_price_corrections.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import { operation, reply } from "../http/operation.ts";
import { type AddProblem, instant, limit, texts, words } from "../http/query.ts";
import { MODEL_NOT_FOUND, ModelPath, requireModel } from "./require_model.ts";
import { CATALOG_READ, ModelKeyFields } from "./schemas.ts";

const Price = Nullable(Type.Number());

const PriceChange = Type.Object(
  {
    field: Type.String({
      description:
        "The part of `cost`, such as `input`, or `tiers.200000.input` for a tier above 200,000 tokens",
    }),
    oldValue: Price,
    newValue: Price,
    changedAt: Instant(),
  },
  {
    title: "PriceChange",
    examples: [
      { field: "cacheRead", oldValue: 0.13, newValue: 0.125, changedAt: "2026-01-20T16:03:07.000Z" },
    ],
  },
);

const PriceCorrection = Type.Object(
  {
    field: Text,
    value: Nullable(Type.Number(), { description: "Null if the price is not known" }),
    validFrom: Instant(),
    validTo: Instant(),
    reason: Text,
    knownFrom: Instant({ description: "When it was added; with an earlier `knownAt` it does not count" }),
  },
  { title: "PriceCorrection" },
);

const ModelPriceChanges = Type.Object(
  {
    ...ModelKeyFields,
    pricesKnownSince: Instant({ description: "The first known instant of its prices" }),
    changes: listOf(PriceChange),
  },
  { title: "ModelPriceChanges" },
);

export const listModelPriceChanges = operation(
  {
    ...CATALOG_READ,
    id: "listModelPriceChanges",
    path: "/api/v1/models/history/{provider}/{+modelId}",
    summary: "List price changes of a model",
    description:
      "Every recorded price change, newest first, in USD per million tokens, and the corrections that operators have added to " +
      "the past. A correction counts from `validFrom` to before `validTo`; of several the first one counts.",
    params: ModelPath,
    response: {
      200: data(
        {
          changes: listOf(PriceChange),
          total: Count,
          corrections: listOf(PriceCorrection, { examples: [[]] }),
        },
        "All price changes",
      ),
    },
    fails: [MODEL_NOT_FOUND],
  },
  async ({ params }, { catalog: cache }) => {
    const { row } = requireModel(await cache.current(), params);
    const [[changes = []], corrections] = await cache.read((sql) =>
      Promise.all([listPriceChanges(sql, [row]), listPriceCorrections(sql, row)]),
    );
    return reply(200, { data: { changes, total: changes.length, corrections } });
  },
);

/** Equals the maximum page size of the model list. */
const MAX_MODELS = 200;

const models = texts({ maxItems: MAX_MODELS, maxLength: 500 }, "A model as provider/modelId; repeatable");

/** Query parameters of GET /models/history. */
const HISTORY_QUERY = {
  model: {
    ...models,
    required: true as const,
    example: ["openai/gpt-5"],
    schema: { ...models.schema, minItems: 1 },
    read(value: readonly string[], addProblem: AddProblem): ModelKey[] {
      if (value.length === 0) addProblem("is required: provider/modelId, such as openai/gpt-5");
      return models.read(value, addProblem).map(parseModelName);
    },
  },
  field: words(PRICE_FIELDS, "Only changes of these parts of `cost`, without tiers; repeatable"),
  since: instant("Only changes at or after this instant, an ISO 8601 time with an offset"),
  limit: limit({ max: 100, unset: 20 }, "Newest changes of each model"),
};

export const listRecentPriceChanges = operation(
  {
    ...CATALOG_READ,
    id: "listRecentPriceChanges",
    path: "/api/v1/models/history",
    summary: "List recent price changes of several models",
    description:
      "The newest price changes of each model, in the order of `model`, in USD per million tokens. Unknown models are left " +
      "out. `GET /models/history/{provider}/{modelId}` has every change of one model.",
    query: HISTORY_QUERY,
    response: {
      200: data(
        { models: listOf(ModelPriceChanges), total: Count },
        "The models and their changes, newest first",
      ),
    },
  },
  async ({ query }, { catalog: cache }) => {
    const catalog = await cache.current();
    const known = query.model.flatMap((key) => catalog.find(key)?.row ?? []);
    const lists = await cache.read((sql) => listPriceChanges(sql, known, { ...query, fields: query.field }));
    const models = known.map(({ provider, modelId, pricesKnownSince }, index) => ({
      provider,
      modelId,
      pricesKnownSince,
      changes: lists[index] ?? [],
    }));
    return reply(200, { data: { models, total: models.length } });
  },
);
