/** GET /models/compare: up to four models side by side. */
import { ApiError } from "../../../shared/errors.ts";
import { modelName, parseModelName } from "../../../shared/models/model_name.ts";
import { MODEL_CAPABILITIES } from "../../../shared/vocabulary.ts";
import { getModel, resolveModelAlias } from "../../models/models.ts";
import { listModelPriceChanges } from "../../models/price_history.ts";
import { comparisonPath, modelPath } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { dataTable, didYouMean, formatPrice, UNKNOWN } from "../parts.ts";
import { correctionTable } from "./correction_table.ts";
import { CAPABILITY_LABELS, formatCapability, formatTokens, NOT_STATED, priceLabel } from "./format.ts";
import {
  type Compared,
  type FullModel,
  loadProviderNames,
  MAX_COMPARED,
  type ProviderNames,
  pricesOf,
  stepsOf,
} from "./model_responses.ts";
import { pricePlot } from "./price_plot.ts";
import { periodSince } from "./price_steps.ts";

/** Compares the models in the query, which are named by id or alias. Lists unknown models with suggestions. */
export async function showComparison(page: Page): Promise<PageResult> {
  const { searchParams } = page.url;
  const names = [...new Set(searchParams.getAll("model"))].filter((name) => name !== "");
  const [providers, ...found] = await Promise.all([
    loadProviderNames(page),
    ...names.slice(0, MAX_COMPARED).map((name) => find(page, name)),
  ]);
  const compared = found.filter((one) => "model" in one);
  const unknown = found.filter((one) => "suggestions" in one);
  return {
    title: "Compare models",
    section: "models",
    status: unknown.length > 0 ? 404 : 200,
    main: html`<p class="crumbs"><a href="/models">Models</a></p>
<h1>Compare models</h1>
${names.length > MAX_COMPARED && html`<p class="notice">You selected ${names.length} models. These are the first ${MAX_COMPARED}.</p>`}
${unknown.map((name) => renderUnknown(name, compared))}
${compared.length < MAX_COMPARED && addForm(compared)}
${compared.length > 0 && html`${comparisonTable(compared, providers)}${plots(compared)}`}`,
  };
}

interface UnknownModel {
  name: string;
  /** The suggested ids or aliases. */
  suggestions: readonly string[];
}

async function find(page: Page, name: string): Promise<Compared | UnknownModel> {
  try {
    return await load(page, name);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    const { suggestions = [] } = (error.details ?? {}) as Partial<UnknownModel>;
    return { name, suggestions };
  }
}

/** Returns the key of a model. A name without a provider is an alias. */
async function findKey(page: Page, name: string): Promise<{ provider: string; modelId: string }> {
  if (name.includes("/")) return parseModelName(name);
  return (await page.call(resolveModelAlias, { params: { alias: name } })).data.model;
}

function renderUnknown({ name, suggestions }: UnknownModel, compared: readonly Compared[]): Html {
  const kept = compared.map(({ model }) => modelName(model));
  const meant = didYouMean(suggestions, (other) => comparisonPath([...kept, other]));
  return html`<p class="problem" role="alert">There is no model “${name}”.${meant}</p>`;
}

async function load(page: Page, name: string): Promise<Compared> {
  const { provider, modelId } = await findKey(page, name);
  const params = { provider, modelId };
  const [model, history] = await Promise.all([
    page.call(getModel, { params }),
    page.call(listModelPriceChanges, { params }),
  ]);
  return { model, ...history.data };
}

/** Renders the form that adds another model to the comparison. */
function addForm(compared: readonly Compared[]): Html {
  return html`<form class="search" method="get" action="/models/compare">
${compared.map(({ model }) => html`<input type="hidden" name="model" value="${modelName(model)}">`)}
<label for="add-model" class="visually-hidden">Add a model</label>
<input id="add-model" name="model" required maxlength="500" autocomplete="off" spellcheck="false" placeholder="provider/model, such as openai/gpt-5">
<button type="submit">Add</button> <a class="button" href="/models">Choose from the list</a>
</form>`;
}

/** Renders one plot per price, with all models on the same scale, and the corrections below. */
function plots(compared: readonly Compared[]): Html | null {
  const fields = listPrices(compared.map(({ model }) => model)).filter((name) => !name.startsWith("tiers."));
  const corrections = correctionTable(compared);
  if (fields.length === 0 && corrections === null) return null;
  const period = periodSince(compared.map(({ model }) => model.pricesKnownSince));
  return html`<section class="stack" aria-labelledby="plots-title"><h2 id="plots-title">Prices over time</h2>
<div class="plots">${fields.map((field) =>
    pricePlot({
      id: `plot-${field}`,
      title: priceLabel(field),
      period,
      series: compared.map(({ model, changes }) => ({
        label: model.name,
        steps: stepsOf(model, { changes, field, period }),
      })),
    }),
  )}</div>
${corrections}</section>`;
}

type Field = readonly [label: string, read: (model: FullModel) => string];

const HEAD_FIELDS: readonly Field[] = [
  ["Family", ({ family }) => family ?? UNKNOWN],
  ["Tier, derived", ({ tier }) => tier],
  ["Status", ({ status }) => status],
  ["Context", ({ limits }) => formatTokens(limits?.context)],
  ["Input limit", ({ limits }) => formatTokens(limits?.input)],
  ["Output limit", ({ limits }) => formatTokens(limits?.output)],
];

const TAIL_FIELDS: readonly Field[] = [
  ...MODEL_CAPABILITIES.map(
    (name): Field => [CAPABILITY_LABELS[name], (model) => formatCapability(name, model)],
  ),
  ["Input modalities", ({ modalities }) => modalities.input.join(", ") || UNKNOWN],
  ["Output modalities", ({ modalities }) => modalities.output.join(", ") || UNKNOWN],
  ["Open weights", ({ openWeights }) => (openWeights ? "yes" : "no")],
  ["Released", ({ releaseDate }) => releaseDate ?? UNKNOWN],
  ["Knowledge cutoff", ({ knowledgeCutoff }) => knowledgeCutoff ?? UNKNOWN],
];

/** Renders the models as columns. A fact that is unknown for all models has no row. */
function comparisonTable(compared: readonly Compared[], providers: ProviderNames): Html {
  const models = compared.map(({ model }) => model);
  const names = models.map(modelName);
  const provider: Field = ["Provider", (model) => providers.get(model.provider) ?? model.provider];
  const prices = listPrices(models).map(
    (name): Field => [priceLabel(name), ({ cost }) => formatPrice(pricesOf(cost).get(name))],
  );
  const fields = [provider, ...HEAD_FIELDS, ...prices, ...TAIL_FIELDS].filter(([, read]) =>
    models.some((model) => ![UNKNOWN, NOT_STATED].includes(read(model))),
  );
  const columns = models.map((model, index) => {
    const others = names.toSpliced(index, 1);
    return html`<th scope="col"><a href="${modelPath(model)}">${model.name}</a><span class="id">${names[index]}</span> <a class="quiet" href="${comparisonPath(others)}" aria-label="Remove ${model.name}">Remove</a></th>`;
  });
  const rows = fields.map((field) => row(field, models));
  return html`${dataTable("Comparison", [html`<td></td>`, ...columns], rows, "compared")}
${models.length > 1 && html`<p class="quiet"><span class="mark" aria-hidden="true">≠</span> marks where the models differ. Prices are US dollars per million tokens.</p>`}`;
}

/** Returns the names of the prices that any of the models has, in the API's order. */
function listPrices(models: readonly FullModel[]): string[] {
  return [...new Set(models.flatMap(({ cost }) => [...pricesOf(cost).keys()]))];
}

function row([label, read]: Field, models: readonly FullModel[]): Html {
  const values = models.map(read);
  const isDifferent = new Set(values).size > 1;
  return html`<tr${isDifferent && html` class="differs"`}><th scope="row">${label}${isDifferent && html` <span class="mark" role="img" aria-label="differs">≠</span>`}</th>${values.map((value) => html`<td>${value}</td>`)}</tr>`;
}
