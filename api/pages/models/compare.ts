/** GET /models/compare: up to four models side by side. */
import { type Html, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { modelName, modelPath, withQuery } from "./addresses.ts";
import { comparisonTable } from "./compare_table.ts";
import { priceLabel } from "./format.ts";
import {
  type Compared,
  type FullModel,
  MAX_COMPARED,
  pricesOf,
  readProviderNames,
} from "./model_responses.ts";
import { pricePlot } from "./price_plot.ts";
import { type PriceChange, periodSince, priceSteps } from "./price_steps.ts";

/** Shows the models of the query; one that does not exist is the 404 of the API. */
export async function showComparison(page: Page): Promise<PageResult> {
  const { searchParams } = page.url;
  const org = searchParams.get("org");
  const names = [...new Set(searchParams.getAll("model"))].filter((name) => name !== "");
  const [providers, ...compared] = await Promise.all([
    page.call("/models/providers").then(readProviderNames),
    ...names.slice(0, MAX_COMPARED).map((name) => load(page, name)),
  ]);
  return {
    title: "Compare models",
    section: "models",
    main: html`<p class="crumbs"><a href="${withQuery("/models", [], org)}">Models</a></p>
<h1>Compare models</h1>
${names.length > MAX_COMPARED && html`<p class="notice">You selected ${names.length} models. These are the first ${MAX_COMPARED}.</p>`}
${compared.length < MAX_COMPARED && addForm(compared, org)}
${compared.length > 0 && html`${comparisonTable(compared, { org, providers })}${plots(compared)}`}`,
  };
}

async function load(page: Page, name: string): Promise<Compared> {
  const [provider = "", ...id] = name.split("/");
  const path = modelPath({ provider, modelId: id.join("/") });
  const [model, history] = await Promise.all([
    page.api<FullModel>(path),
    page.api<{ data: { changes: readonly PriceChange[] } }>(path.replace("/models/", "/models/history/")),
  ]);
  return { model, changes: history.data.changes };
}

/** Keeps the models that are compared, and takes one more. */
function addForm(compared: readonly Compared[], org: string | null): Html {
  return html`<form class="search" method="get" action="/models/compare">
${org !== null && html`<input type="hidden" name="org" value="${org}">`}
${compared.map(({ model }) => html`<input type="hidden" name="model" value="${modelName(model)}">`)}
<label for="add-model" class="visually-hidden">Add a model</label>
<input id="add-model" name="model" required maxlength="500" autocomplete="off" spellcheck="false" placeholder="provider/model, such as openai/gpt-5">
<button type="submit">Add</button> <a class="button" href="${withQuery("/models", [], org)}">Choose from the list</a>
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
