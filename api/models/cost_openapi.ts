/** Body and OpenAPI description of POST /models/cost. */
import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { INSTANT, listOf, named, record, TEXT } from "../../shared/json_schema.ts";
import { onlyReads } from "../http/access.ts";
import { jsonResponse } from "../openapi/responses.ts";
import { describe } from "../openapi/types.ts";
import { PRICE_PARTS } from "./openapi_schemas.ts";

export const MAX_ITEMS = 1000;
const MAX_TOKENS = 1e12;

const name = () => t.Optional(t.String({ minLength: 1, maxLength: 500 }));
const tokens = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_TOKENS, description });
const moreTokens = (description: string) => t.Optional(tokens(description));

export const CostItem = t.Object(
  {
    provider: name(),
    modelId: name(),
    alias: t.Optional(
      t.String({ minLength: 1, maxLength: 500, description: "Instead of provider and modelId" }),
    ),
    resolveDated: t.Optional(
      t.Boolean({
        description:
          "If the id or alias ends with a date and is unknown, use the one without the date: `gpt-5` for `gpt-5-2025-08-07`",
      }),
    ),
    asOf: t.Optional(t.String({ maxLength: 50, description: "When the tokens were used; now when omitted" })),
    knownAt: t.Optional(
      t.String({ maxLength: 50, description: "Leave out corrections that are newer; now when omitted" }),
    ),
    inputTokens: tokens("Text tokens of the prompt that no cache served"),
    outputTokens: tokens("Text tokens of the response, without reasoning"),
    cacheReadTokens: moreTokens("Prompt tokens read from a cache"),
    cacheWriteTokens: moreTokens("Prompt tokens written to a cache"),
    reasoningTokens: moreTokens(
      "Reasoning tokens. They cost as much as output unless the model has a price for them",
    ),
    inputAudioTokens: moreTokens("Audio tokens of the prompt"),
    outputAudioTokens: moreTokens("Audio tokens of the response"),
    contextTokens: moreTokens(
      "Size of the prompt, which selects the price tier; the sum of the item's prompt tokens when omitted. Set it " +
        "when an item adds up several requests",
    ),
  },
  { additionalProperties: false, title: "Usage" },
);

const CostBody = t.Object(
  { items: t.Array(CostItem, { minItems: 1, maxItems: MAX_ITEMS }) },
  {
    additionalProperties: false,
    title: "UsageItems",
    examples: [{ items: [{ provider: "openai", modelId: "gpt-5", inputTokens: 2000, outputTokens: 1000 }] }],
  },
);

export type CostItem = typeof CostItem.static;

const AMOUNT = { type: "string", pattern: "^\\d+(\\.\\d+)?$" };

const PRICED = named(
  "UsageCost",
  record(
    {
      cost: { ...AMOUNT, description: "Exact, in `currency`" },
      currency: { type: "string", enum: ["USD"] },
      prices: {
        ...record({ ...PRICE_PARTS, contextOver: { type: "integer", minimum: 1 } }, [
          ...Object.keys(PRICE_PARTS).filter((part) => part !== "input" && part !== "output"),
          "contextOver",
        ]),
        description:
          "The prices that were charged, in USD per million tokens. `contextOver` is the price tier, if one applied",
      },
      pricesFrom: { ...INSTANT, description: "When these prices came into effect, as far as they are known" },
      resolvedTo: {
        ...TEXT,
        description:
          "The model that was priced, as `provider/modelId`; only if `resolveDated` removed a date",
      },
    },
    ["resolvedTo"],
  ),
);

const FAILED = named(
  "UsageError",
  record({ error: record({ code: TEXT, message: TEXT, details: { type: "object" } }) }),
);

const EXAMPLE_COST = {
  cost: "0.0125",
  currency: "USD",
  prices: { input: 1.25, output: 10, cacheRead: 0.125 },
  pricesFrom: "2026-11-20T10:00:00.000Z",
};

export const COST_DETAIL = describe({
  tags: ["Model catalog"],
  operationId: "computeCost",
  summary: "Compute what usage costs",
  description:
    "Prices up to 1,000 items of usage, each at the prices of its `asOf`. An alias stands for the model it meant at that " +
    "instant. Count each token in one field only: `inputTokens` does not include tokens read from a cache. If the context " +
    "is larger than a price tier's size, the tier's prices apply to the whole item. Amounts are decimal strings, because " +
    "they are exact and JSON parsers round long numbers. An item that cannot be priced has `error` with the same codes as " +
    "responses, and the others are priced. One that is invalid has `VALIDATION_ERROR`, with paths within the item in " +
    "`details.errors`. The `details.reason` of others is `model` or `alias`, with similar names in `details.suggestions`; " +
    "`unknown_at`; or `price`: the model had no price at that time, or none for the kind of token in `details.kind`. " +
    "`total` adds up the others.",
  requestBody: { required: true, content: { "application/json": { schema: CostBody } } },
  responses: {
    200: jsonResponse(
      "A result for each item, in the same order",
      record({
        data: record({
          items: listOf({ anyOf: [PRICED, FAILED] }),
          total: { ...AMOUNT, description: "Exact" },
        }),
      }),
      { data: { items: [EXAMPLE_COST], total: "0.0125" } },
    ),
  },
  ...onlyReads(),
});
