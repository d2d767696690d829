/** The history of models' prices: of one model, and of several. */
import { Type } from "@sinclair/typebox";
import {
  listPriceChanges,
  listRecentPriceChanges as listRecentRows,
} from "../../sql/models/model_price_changes.ts";
import { listPriceCorrections } from "../../sql/models/model_price_corrections.ts";
import { operation, reply } from "../http/operation.ts";
import { Count, data, Instant, listOf, Nullable, Text } from "../http/schemas.ts";
import { HISTORY_QUERY } from "./history_parameters.ts";
import { MODEL_NOT_FOUND, ModelPath, requireModel } from "./require_model.ts";
import { ModelKeyFields } from "./schemas.ts";

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
    id: "listModelPriceChanges",
    method: "GET",
    path: "/api/v1/models/history/{provider}/{+modelId}",
    access: "public",
    tag: "Model catalog",
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
    conditional: true,
    fails: [MODEL_NOT_FOUND],
  },
  async ({ params }, { catalog: cache }) => {
    const { row } = requireModel((await cache.current()).catalog, params);
    const [changes, corrections] = await cache.read((sql) =>
      Promise.all([listPriceChanges(sql, row), listPriceCorrections(sql, row)]),
    );
    return reply(200, { data: { changes, total: changes.length, corrections } });
  },
);

export const listRecentPriceChanges = operation(
  {
    id: "listRecentPriceChanges",
    method: "GET",
    path: "/api/v1/models/history",
    access: "public",
    tag: "Model catalog",
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
    conditional: true,
  },
  async ({ query }, { catalog: cache }) => {
    const { model: keys, field: fields, since, limit } = query;
    const { catalog } = await cache.current();
    const known = keys.flatMap((key) => catalog.find(key)?.row ?? []);
    const rows = await cache.read((sql) => listRecentRows(sql, known, { fields, since, limit }));
    const byModel = Map.groupBy(rows, ({ position }) => position);
    const models = known.map(({ provider, modelId, pricesKnownSince }, index) => ({
      provider,
      modelId,
      pricesKnownSince,
      changes: (byModel.get(index) ?? []).map(({ position: _, ...change }) => change),
    }));
    return reply(200, { data: { models, total: models.length } });
  },
);
