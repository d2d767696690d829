/** The cost calculator of a model: a form whose result comes from POST /models/cost. */
import { ApiError } from "../../../shared/errors.ts";
import { computeCost as costOperation } from "../../models/cost.ts";
import { modelPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { attempt, type FormProblems, inputField, problemSummary } from "../forms.ts";
import { type Html, html } from "../html.ts";
import type { Page } from "../page.ts";
import { formatCount, formatPrice } from "../parts.ts";
import { priceLabel } from "./format.ts";
import { type FullModel, pricesOf } from "./model_responses.ts";

/** The form's fields. A field is shown if the model has its `price`. */
const FIELDS = [
  { name: "inputTokens", label: "Input tokens", price: "input", initial: "100000" },
  { name: "outputTokens", label: "Output tokens", price: "output", initial: "10000" },
  { name: "cacheReadTokens", label: "Read from a cache", price: "cacheRead" },
  { name: "cacheWriteTokens", label: "Written to a cache", price: "cacheWrite" },
  { name: "reasoningTokens", label: "Reasoning tokens", price: "reasoning" },
  { name: "inputAudioTokens", label: "Audio input tokens", price: "inputAudio" },
  { name: "outputAudioTokens", label: "Audio output tokens", price: "outputAudio" },
  {
    name: "contextTokens",
    label: "Tokens of context",
    price: "tiers",
    hint: "Selects the price tier. Default: the sum of the prompt",
  },
] as const;

type CostItem = ResponseOf<typeof costOperation>["data"]["items"][number];

/** The form's input, and its result. */
interface ComputedCost {
  values: ReadonlyMap<string, string>;
  problems: FormProblems | null;
  item: CostItem | null;
}

/** Computes the cost of the tokens in the query; null for a query without tokens. */
export async function computeCost(
  page: Page,
  { provider, modelId, cost }: FullModel,
): Promise<ComputedCost | null> {
  const typed = FIELDS.map(({ name }) => [name, page.url.searchParams.get(name)?.trim() ?? ""] as const);
  const values = new Map<string, string>(typed.filter(([, text]) => text !== ""));
  if (values.size === 0 || cost === null) return null;
  const tokens = [...values].map(([name, text]): [string, number | string] => [name, toNumber(text)]);
  const usage = { provider, modelId, inputTokens: 0, outputTokens: 0, ...Object.fromEntries(tokens) };
  const outcome = await attempt(async () => {
    const { data } = await page.call(costOperation, { body: { items: [usage] } });
    const [item = null] = data.items;
    if (item && "error" in item && item.error.code === "VALIDATION_ERROR") {
      throw new ApiError(item.error.code, item.error);
    }
    return item;
  });
  return outcome.ok
    ? { values, problems: null, item: outcome.value }
    : { values, problems: outcome.problems, item: null };
}

/** Parses a number. Returns any other text unchanged, so that the API reports it. */
function toNumber(text: string): number | string {
  const value = Number(text.replaceAll(",", ""));
  return Number.isFinite(value) ? value : text;
}

export function costSection(model: FullModel, computed: ComputedCost | null): Html {
  const prices = pricesOf(model.cost);
  const known = (price: string) => (price === "tiers" ? model.cost?.tiers !== undefined : prices.has(price));
  const problems = computed?.problems ?? null;
  const fields = FIELDS.filter(({ price, name }) => known(price) || computed?.values.has(name));
  return html`<section class="card stack" id="cost" aria-labelledby="cost-title">
<h2 id="cost-title">What does it cost?</h2>
${problemSummary(problems)}
<form method="get" action="${modelPath(model)}#cost">
<div class="field-grid">${fields.map((field) => tokenField(field, computed, problems))}</div>
<div class="actions"><button type="submit" class="primary">Compute</button></div>
</form>
${computed?.item && result(computed.item)}
</section>`;
}

function tokenField(
  field: (typeof FIELDS)[number],
  computed: ComputedCost | null,
  problems: FormProblems | null,
): Html {
  const { name, label } = field;
  const initial = computed === null && "initial" in field ? field.initial : "";
  const value = computed?.values.get(name) ?? initial;
  const hint = "hint" in field ? field.hint : undefined;
  return inputField(
    { name, label, hint, problems },
    html`inputmode="numeric" autocomplete="off" maxlength="20" value="${value}"`,
  );
}

function result(item: CostItem): Html {
  if ("error" in item) return html`<div class="problem" role="alert"><p>${item.error.message}</p></div>`;
  const { cost, prices } = item;
  const { contextOver, ...charged } = prices;
  const list = Object.entries(charged).map(
    ([field, price]) => `${priceLabel(field).toLowerCase()} ${formatPrice(price)}`,
  );
  return html`<p class="result" role="status"><b>${formatPrice(cost as `${number}`)}</b></p>
<p class="quiet">Per million tokens: ${list.join(", ")}${contextOver !== undefined && `. Prices for more than ${formatCount(contextOver)} tokens of context`}.</p>`;
}
