/** GET /models/compare: up to four models side by side. */
import { ApiError } from "../../../shared/errors.ts";
import { getModel, resolveModelAlias } from "../../models/lookup.ts";
import { listModelPriceChanges } from "../../models/price_history.ts";
import { comparisonPath, modelName } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { comparisonTable } from "./compare_table.ts";
import { priceLabel } from "./format.ts";
import { type Compared, loadProviderNames, MAX_COMPARED, pricesOf } from "./model_responses.ts";
import { pricePlot } from "./price_plot.ts";
import { periodSince, priceSteps } from "./price_steps.ts";

/** Shows the models of the query, named by id or alias. Says which do not exist, and what may be meant. */
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
  /** Ids or aliases. */
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

/** A name without a provider is an alias. */
async function findKey(page: Page, name: string): Promise<{ provider: string; modelId: string }> {
  const [provider = "", ...id] = name.split("/");
  if (id.length > 0) return { provider, modelId: id.join("/") };
  return (await page.call(resolveModelAlias, { params: { alias: name } })).data.model;
}

function renderUnknown({ name, suggestions }: UnknownModel, compared: readonly Compared[]): Html {
  const kept = compared.map(({ model }) => modelName(model));
  const links = suggestions.map(
    (other, index) => html`${index > 0 && ", "}<a href="${comparisonPath([...kept, other])}">${other}</a>`,
  );
  return html`<p class="problem" role="alert">There is no model “${name}”.${links.length > 0 && html` Did you mean ${links}?`}</p>`;
}

async function load(page: Page, name: string): Promise<Compared> {
  const { provider, modelId } = await findKey(page, name);
  const params = { provider, modelId };
  const [model, history] = await Promise.all([
    page.call(getModel, { params }),
    page.call(listModelPriceChanges, { params }),
  ]);
  return { model, changes: history.data.changes };
}

/** Keeps the models that are compared, and takes one more. */
function addForm(compared: readonly Compared[]): Html {
  return html`<form class="search" method="get" action="/models/compare">
${compared.map(({ model }) => html`<input type="hidden" name="model" value="${modelName(model)}">`)}
<label for="add-model" class="visually-hidden">Add a model</label>
<input id="add-model" name="model" required maxlength="500" autocomplete="off" spellcheck="false" placeholder="provider/model, such as openai/gpt-5">
<button type="submit">Add</button> <a class="button" href="/models">Choose from the list</a>
</form>`;
}

/** One plot for each price that a model has; all models share its scale. */
function plots(compared: readonly Compared[]): Html | null {
  const prices = compared.map(({ model }) => pricesOf(model.cost));
  const fields = [...new Set(prices.flatMap((own) => [...own.keys()]))].filter(
    (field) => !field.startsWith("tiers."),
  );
  if (fields.length === 0) return null;
  const period = periodSince(compared.map(({ model }) => model.pricesKnownSince));
  return html`<section class="stack" aria-labelledby="plots-title"><h2 id="plots-title">Prices over time</h2>
<div class="plots">${fields.map((field) =>
    pricePlot({
      id: `plot-${field}`,
      title: priceLabel(field),
      period,
      series: compared.map(({ model, changes }, index) => ({
        label: model.name,
        steps: priceSteps(changes, {
          field,
          current: prices[index]?.get(field) ?? null,
          period,
          knownSince: Date.parse(model.pricesKnownSince),
        }),
      })),
    }),
  )}</div></section>`;
}
