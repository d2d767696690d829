/** GET /models: the catalog as a table that can be filtered, sorted and compared. */
import { modelName } from "../../../shared/models/model_name.ts";
import { listHeldPrices } from "../../models/held_prices.ts";
import { listModels } from "../../models/list/list.ts";
import { MODEL_LIST_QUERY } from "../../models/list/list_parameters.ts";
import { listRecentPriceChanges } from "../../models/price_history.ts";
import { changed, knownQuery, withQuery } from "../addresses.ts";
import { attempt, type FormProblems, problemSummary } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { type Page, type PageResult, seeOther } from "../page.ts";
import { countOf, emptyState, pager, renderDay } from "../parts.ts";
import { FILTER_FIELDS, listFilters } from "./list_filters.ts";
import { type ListTable, listTable } from "./list_table.ts";
import { type Held, loadProviderNames, type ModelPage, type ProviderNames } from "./model_responses.ts";
import { type Period, recentPeriod } from "./price_steps.ts";

/** The maximum number of price changes in a sparkline. */
const MAX_CHANGES = 20;

/**
 * Shows a page of models. The query is that of `GET /models`, and empty values are ignored. If the API rejects the query, the
 * form shows the problems, with the API's status.
 */
export async function showModels(page: Page): Promise<PageResult> {
  const query = knownQuery(page.url, MODEL_LIST_QUERY);
  if (query.get("format") === "csv") return seeOther(`/api/v1/models?${query}`);
  const [{ list, problems }, names, { data: held }] = await Promise.all([
    loadList(page, query),
    loadProviderNames(page),
    page.call(listHeldPrices),
  ]);
  const filters = listFilters({ query, names, facets: list.facets, problems });
  const results = problems ? renderProblems(problems) : await renderResults(page, { list, names, query });
  return {
    title: "Models",
    section: "models",
    status: problems?.status,
    head: html`<meta name="description" content="Prices, limits and capabilities of AI models.">
<script type="module" src="/dashboard/assets/compare_models.js"></script>`,
    main: html`<div class="pager">
  <div>
    <h1>Models</h1>
    <p class="quiet">${problems === null && html`${countOf(list.total, "model")} · `}US dollars per million tokens · ${describeOrigin(list)}</p>
  </div>
  ${problems === null && html`<a class="button" href="${withQuery("/api/v1/models", changed(query, { limit: null, offset: null, format: "csv" }))}">Download CSV</a>`}
</div>
${held.document && renderWaiting(held.document)}
<div class="columns">
${filters}
<section class="stack" aria-label="Models">
${results}
</section>
</div>`,
  };
}

/** Loads the list. If the API rejects parameters, returns the problems and the list without these parameters. */
async function loadList(page: Page, query: URLSearchParams) {
  const load = async (known: URLSearchParams) => {
    const { data } = await page.call(listModels, { query: changed(known, { facets: "true" }) });
    // The response to `facets=true` contains the facets.
    return data as ModelPage;
  };
  const outcome = await attempt(() => load(query));
  if (outcome.ok) return { list: outcome.value, problems: null };
  const { problems } = outcome;
  const accepted = [...query].filter(([name]) => !problems.fields.has(name));
  return { list: await load(new URLSearchParams(accepted)), problems };
}

/** Loads the price changes of all rows with one call. */
async function loadHistories(
  page: Page,
  { models }: ModelPage,
  { from }: Period,
): Promise<ListTable["histories"]> {
  const priced = models.filter(({ cost }) => cost !== null);
  if (priced.length === 0) return new Map();
  const since = new Date(from).toISOString();
  const { data } = await page.call(listRecentPriceChanges, {
    query: { field: "input", since, limit: MAX_CHANGES, model: priced.map(modelName) },
  });
  return new Map(data.models.map((model) => [modelName(model), model]));
}

function renderProblems(problems: FormProblems): Html {
  return html`${problemSummary(problems, (name) => FILTER_FIELDS.has(name))}
<p><a href="/models">Show all models</a></p>`;
}

async function renderResults(
  page: Page,
  { list, names, query }: { list: ModelPage; names: ProviderNames; query: URLSearchParams },
): Promise<Html> {
  const { models } = list;
  const period = recentPeriod();
  const histories = await loadHistories(page, list, period);
  return html`${models.length === 0 ? emptyState(html`No models match these filters. <a href="/models">Show all models</a>`) : listTable({ models, names, histories, period, query })}
${pager({ ...list, shown: models.length }, (to) => withQuery("/models", changed(query, { offset: to })))}`;
}

/** Says that the source has a new catalog that is held back, because it lacks too many models or prices. */
function renderWaiting({ firstSeenAt, rejected }: NonNullable<Held["document"]>): Html {
  return html`<p class="notice">Since ${renderDay(firstSeenAt)}, the source’s catalog lacks too many models or prices to be used. You see the previous one. ${rejected ? "An operator has rejected the new one as a mistake." : "A later sync or an operator may confirm the new one."}</p>`;
}

function describeOrigin({ catalog: { source, dataDate } }: ModelPage): Html {
  if (source === null) return html`not synced yet`;
  const from = source === "bundled" ? "the bundled catalog" : source === "file" ? "a file" : source;
  return html`from ${from}${dataDate !== null && html`, data of ${renderDay(dataDate)}`}`;
}
