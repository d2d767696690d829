/** OpenAPI descriptions of the routes under /models. */
import { COUNT, FLAG, listOf, nullable, record, TEXT } from "../../shared/json_schema.ts";
import { describeQuery, word } from "../http/query.ts";
import { jsonResponse, pathParameter } from "../openapi/responses.ts";
import { describe, failsWith } from "../openapi/types.ts";
import { ALIASES_QUERY, HISTORY_QUERY } from "./history_parameters.ts";
import { LIST_QUERY, SELECTION_QUERY } from "./list_parameters.ts";
import {
  ALIAS,
  EXAMPLE_ALIAS,
  EXAMPLE_HELD,
  EXAMPLE_ITEM,
  EXAMPLE_MODEL,
  EXAMPLE_ORIGIN,
  EXAMPLE_PRICE_CHANGE,
  FACETS,
  HELD_DOCUMENT,
  HELD_PRICES,
  MODEL,
  MODEL_PRICE_CHANGES,
  ORIGIN,
  PRICE_CHANGE,
  PRICE_CORRECTION,
  PROVIDER,
  SUMMARY,
} from "./openapi_schemas.ts";
import { AS_OF_QUERY } from "./prices_as_of.ts";

const TAG = "Model catalog";

const EXAMPLE_CSV = "\uFEFFprovider,modelId,name\r\nopenai,gpt-5,GPT-5\r\n";

const ETAG = { description: "Strong; changes when the catalog does", schema: TEXT };
const NOT_MODIFIED = { 304: { description: "Not modified: the ETag in `If-None-Match` is current" } };

const PROVIDER_PARAMETER = pathParameter("provider", "Provider id", "openai");

/** The rest of a path. */
function restParameter(name: string, example: string) {
  return pathParameter(name, "May contain slashes, plain or as %2F", example);
}

function taggedResponses(description: string, schema: object, example: unknown) {
  return { 200: { ...jsonResponse(description, schema, example), headers: { ETag: ETAG } }, ...NOT_MODIFIED };
}

function data(fields: Readonly<Record<string, object>>, optional: readonly string[] = []) {
  return record({ data: record(fields, optional) });
}

export const LIST_DETAIL = describe({
  tags: [TAG],
  operationId: "listModels",
  summary: "List models",
  description:
    "Sorted by provider and id, unless `sortBy` is set. Models that the source no longer lists are excluded, unless " +
    "`includeGone` is true. Filters on a price or context exclude models for which it is unknown. An unknown provider " +
    "returns an empty page. `catalog` says where the data comes from and how old it is. `format=csv` " +
    "responds as `/models.csv`.",
  parameters: describeQuery({ ...LIST_QUERY, format: word(["json"], "`json`, a page") }),
  responses: taggedResponses(
    "A page of models and their aliases",
    data(
      {
        models: listOf(SUMMARY),
        aliases: listOf(ALIAS),
        total: COUNT,
        limit: COUNT,
        offset: COUNT,
        hasMore: FLAG,
        catalog: ORIGIN,
        facets: FACETS,
      },
      ["facets"],
    ),
    {
      data: {
        models: [EXAMPLE_ITEM],
        aliases: [EXAMPLE_ALIAS],
        total: 1,
        limit: 50,
        offset: 0,
        hasMore: false,
        catalog: EXAMPLE_ORIGIN,
      },
    },
  ),
});

export const LIST_CSV_DETAIL = describe({
  tags: [TAG],
  operationId: "listModelsCsv",
  summary: "List models as CSV",
  description: "The whole filtered list as one file, by the same rules as CSV exports.",
  parameters: describeQuery(SELECTION_QUERY),
  responses: {
    200: {
      description: "The file",
      headers: { ETag: ETAG },
      content: { "text/csv": { schema: TEXT, example: EXAMPLE_CSV } },
    },
    ...NOT_MODIFIED,
  },
});

export const PROVIDERS_DETAIL = describe({
  tags: [TAG],
  operationId: "listModelProviders",
  summary: "List providers",
  description: "Active providers, sorted by id.",
  responses: taggedResponses("All active providers", data({ providers: listOf(PROVIDER), total: COUNT }), {
    data: {
      providers: [
        {
          id: "openai",
          name: "OpenAI",
          status: "active",
          logoUrl: "https://models.dev/logos/openai.svg",
          docUrl: "https://platform.openai.com/docs/models",
        },
      ],
      total: 1,
    },
  }),
});

export const ALIASES_DETAIL = describe({
  tags: [TAG],
  operationId: "listModelAliases",
  summary: "List aliases",
  description:
    "Short names such as `sonnet` and the model each one currently stands for, sorted by alias. An unknown model returns " +
    "an empty list.",
  parameters: [...describeQuery(ALIASES_QUERY)],
  responses: taggedResponses(
    "All aliases, or those of a model",
    data({ aliases: listOf(ALIAS), total: COUNT }),
    {
      data: { aliases: [EXAMPLE_ALIAS], total: 1 },
    },
  ),
});

const AS_OF_NOTE =
  "With `asOf`, `cost` has the prices of that instant, as they are known today or were known at `knownAt`, and `pricesFrom` says when they came into effect; all other fields " +
  "are current. Before `pricesKnownSince` that is 404 with `details.reason` `unknown_at` and the instant in " +
  "`details.pricesKnownSince`.";

export const RESOLVE_DETAIL = describe({
  tags: [TAG],
  operationId: "resolveModelAlias",
  summary: "Resolve an alias",
  description:
    "Returns the model an alias stands for. If the source no longer lists the model, it is deprecated and has `goneAt`. " +
    "A 404 names up to three similar aliases in `details.suggestions`. " +
    AS_OF_NOTE,
  parameters: [restParameter("alias", "gpt"), ...describeQuery(AS_OF_QUERY)],
  responses: taggedResponses(
    "The model",
    data({ alias: TEXT, target: { ...TEXT, description: "provider/modelId" }, model: MODEL }),
    { data: { alias: "gpt", target: "openai/gpt-5", model: EXAMPLE_MODEL } },
  ),
  ...failsWith(["NOT_FOUND", { reason: "alias", suggestions: ["gpt-5", "gpt-4"] }]),
});

const MODEL_NOT_FOUND = ["NOT_FOUND", { reason: "model", suggestions: ["openai/gpt-5"] }] as const;
const MODEL_PARAMETERS = [PROVIDER_PARAMETER, restParameter("modelId", "gpt-5")];

export const MODEL_DETAIL = describe({
  tags: [TAG],
  operationId: "getModel",
  summary: "Get a model",
  description:
    "A model that the source no longer lists is deprecated and has `goneAt`. A 404 names up to three similar models in " +
    "`details.suggestions`, as `provider/modelId`. " +
    AS_OF_NOTE,
  parameters: [...MODEL_PARAMETERS, ...describeQuery(AS_OF_QUERY)],
  responses: taggedResponses("The model, not wrapped in `data`", MODEL, EXAMPLE_MODEL),
  ...failsWith(MODEL_NOT_FOUND),
});

export const HISTORY_DETAIL = describe({
  tags: [TAG],
  operationId: "listModelPriceChanges",
  summary: "List price changes of a model",
  description:
    "Every recorded price change, newest first, in USD per million tokens, and the corrections that operators have added to " +
    "the past. A correction counts from `validFrom` to before `validTo`; of several the first one counts.",
  parameters: MODEL_PARAMETERS,
  responses: taggedResponses(
    "All price changes",
    data({
      changes: listOf(PRICE_CHANGE),
      total: COUNT,
      corrections: listOf(PRICE_CORRECTION),
    }),
    {
      data: {
        changes: [EXAMPLE_PRICE_CHANGE],
        total: 1,
        corrections: [],
      },
    },
  ),
  ...failsWith(MODEL_NOT_FOUND),
});

export const RECENT_HISTORY_DETAIL = describe({
  tags: [TAG],
  operationId: "listRecentPriceChanges",
  summary: "List recent price changes of several models",
  description:
    "The newest price changes of each model, in the order of `model`, in USD per million tokens. Unknown models are left " +
    "out. `GET /models/history/{provider}/{modelId}` has every change of one model.",
  parameters: [...describeQuery(HISTORY_QUERY)],
  responses: taggedResponses(
    "The models and their changes, newest first",
    data({ models: listOf(MODEL_PRICE_CHANGES), total: COUNT }),
    {
      data: {
        models: [{ provider: "openai", modelId: "gpt-5", changes: [EXAMPLE_PRICE_CHANGE] }],
        total: 1,
      },
    },
  ),
});

export const HELD_DETAIL = describe({
  tags: [TAG],
  operationId: "listHeldPrices",
  summary: "List doubtful changes that wait",
  description:
    "Prices that change by more than five times, or to or from 0, wait until a sync at least an hour later finds them again, " +
    "or until an operator accepts them; the old prices apply meanwhile. `document` is set while the source's document as a " +
    "whole waits, because it would remove too many models or prices.",
  responses: taggedResponses(
    "Everything that waits",
    data({ prices: listOf(HELD_PRICES), total: COUNT, document: nullable(HELD_DOCUMENT) }),
    { data: { prices: [EXAMPLE_HELD], total: 1, document: null } },
  ),
});
