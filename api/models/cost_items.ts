/** Parses the items of POST /models/cost. An invalid item gets its own error, and the other items are still priced. */
import { type Static, type StringOptions, type TObject, Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { Details, requestBody, Text } from "../../shared/schemas.ts";
import type { PriceLookup } from "../../sql/models/prices_as_of.ts";
import type { JsonObject } from "../http/route.ts";
import { findUnstorable } from "../http/storable_text.ts";
import { createBodyCheck, createSchemaCheck, type Problem } from "../http/validation_problems.ts";
import { yieldEventLoop } from "../http/yield_event_loop.ts";
import type { Catalog } from "./catalog.ts";
import { readPastInstant } from "./require_prices.ts";
import { findUndated } from "./similar_names.ts";

const MAX_ITEMS = 1000;
const MAX_TOKENS = 1e12;

const name = (options: StringOptions = {}) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 500, ...options }));
const tokens = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_TOKENS, description });
const moreTokens = (description: string) => Type.Optional(tokens(description));

/** Fields for numbers of tokens. Each token counts in one field only. */
const USAGE = {
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
};
export type TokenUsage = Static<TObject<typeof USAGE>>;

const CostItem = Type.Object(
  {
    provider: name(),
    modelId: name(),
    alias: name({ description: "Instead of provider and modelId" }),
    resolveDated: Type.Optional(
      Type.Boolean({
        description:
          "If the id or alias ends with a date and is unknown, use the one without the date: `gpt-5` for `gpt-5-2025-08-07`",
      }),
    ),
    asOf: Type.Optional(
      Type.String({ maxLength: 50, description: "When the tokens were used; now when omitted" }),
    ),
    knownAt: Type.Optional(
      Type.String({ maxLength: 50, description: "Leave out corrections that are newer; now when omitted" }),
    ),
    ...USAGE,
  },
  { additionalProperties: false, title: "Usage" },
);

export const CostBody = requestBody(
  "UsageItems",
  { items: Type.Array(CostItem, { minItems: 1, maxItems: MAX_ITEMS }) },
  { items: [{ provider: "openai", modelId: "gpt-5", inputTokens: 2000, outputTokens: 1000 }] },
);

type CostItem = Static<typeof CostItem>;

/** Items processed per turn of the event loop, a few milliseconds of work. */
export const ITEMS_PER_TURN = 100;
/** Maximum number of problems in a response per item. */
const MAX_PROBLEMS = 5;

/** `isUndated` is true if a date was removed from the item's id or alias. */
export type ItemLookup = PriceLookup & { usage: TokenUsage; isUndated: boolean };

/** Result of an item that cannot be priced. */
export const UsageError = Type.Object(
  { error: Type.Object({ code: Text, message: Text, details: Details }) },
  { title: "UsageError" },
);
export type UsageError = Static<typeof UsageError>;

const checkList = createBodyCheck(
  Type.Object(
    { items: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_ITEMS }) },
    { additionalProperties: false },
  ),
);
const listMistakes = createSchemaCheck(CostItem, MAX_PROBLEMS);

/**
 * Returns a lookup for each item, or a VALIDATION_ERROR with paths within the item. Throws VALIDATION_ERROR for a body without a
 * list of items.
 */
export async function readItems(body: JsonObject, catalog: Catalog): Promise<(ItemLookup | UsageError)[]> {
  checkList(body);
  // `checkList` has checked the type.
  const given = body["items"] as readonly unknown[];
  const items: (ItemLookup | UsageError)[] = [];
  for (const [position, item] of given.entries()) {
    if (position % ITEMS_PER_TURN === 0) await yieldEventLoop();
    items.push(readItem(item, catalog));
  }
  return items;
}

function readItem(value: unknown, catalog: Catalog): ItemLookup | UsageError {
  const mistakes = listMistakes(value);
  if (mistakes.length > 0) return invalidItem(mistakes);
  // `listMistakes` has checked the type.
  const item = value as CostItem;
  const { alias, provider, modelId, asOf: _, knownAt: __, resolveDated = false, ...usage } = item;
  const problems = findUnstorable(item);
  const read = (path: "asOf" | "knownAt") =>
    readPastInstant(item[path] ?? null, (message) => problems.push({ path, message }));
  const [asOf, knownAt] = [read("asOf"), read("knownAt")];
  const isAlias = alias !== undefined && provider === undefined && modelId === undefined;
  if (!isAlias && (alias !== undefined || provider === undefined || modelId === undefined)) {
    problems.push({ path: "", message: "must have either provider and modelId, or alias" });
  }
  if (problems.length > 0) return invalidItem(problems);
  const name = isAlias ? { alias } : { provider: provider ?? "", modelId: modelId ?? "" };
  const undated = resolveDated ? findUndated(catalog, name) : null;
  return { ...(undated ?? name), asOf, knownAt, usage, isUndated: undated !== null };
}

function invalidItem(errors: readonly Problem[]): UsageError {
  const [first = { path: "", message: "" }] = errors;
  const message = TEXTS.VALIDATION_ERROR.item(first);
  return { error: { code: "VALIDATION_ERROR", message, details: { errors } } };
}
