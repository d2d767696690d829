/** Query parameters that name models, as `provider/modelId`. */
import { parseInstant } from "../../shared/instant.ts";
import { INSTANT } from "../../shared/json_schema.ts";
import { parseModelName } from "../../shared/models/model_name.ts";
import { PRICE_FIELDS } from "../../shared/vocabulary.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import { type AddProblem, limit, mapped, once, text, texts, words } from "../http/query.ts";

/** As many as a page of models has. */
const MAX_MODELS = 200;
const MAX_KEY_LENGTH = 500;

const models = texts(
  { maxItems: MAX_MODELS, maxLength: MAX_KEY_LENGTH },
  "A model as provider/modelId; repeatable",
);

/** Parameters of GET /models/history. */
export const HISTORY_QUERY = {
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
  since: {
    description: "Only changes at or after this instant, an ISO 8601 time with an offset",
    schema: INSTANT,
    read: once((value, addProblem): string | null => {
      const since = value === null ? null : parseInstant(value);
      if (value !== null && since === null) {
        addProblem("must be ISO 8601 with an offset, such as 2026-11-20T10:00:00.000Z");
      }
      return since;
    }),
  },
  limit: limit({ max: 100, unset: 20 }, "Newest changes of each model"),
};

/** Parameters of GET /models/aliases. */
export const ALIASES_QUERY = {
  model: mapped(text(MAX_KEY_LENGTH, "Aliases that stand for this model, as provider/modelId"), (value) =>
    value === null ? null : parseModelName(value),
  ),
};
