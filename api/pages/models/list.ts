/** GET /models: the catalog as a table that can be filtered, sorted and compared. */
import { listHeldPrices } from "../../models/held_prices.ts";
import { listModels } from "../../models/list/list.ts";
import { MODEL_LIST_QUERY } from "../../models/list/list_parameters.ts";
import { listRecentPriceChanges } from "../../models/price_history.ts";
import { changed, knownQuery, modelName, withQuery } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import { type Page, type PageResult, seeOther } from "../page.ts";
import { countOf, emptyState, pager, renderDay } from "../parts.ts";
import { listFilters } from "./list_filters.ts";
import { listTable } from "./list_table.ts";
import { type Held, loadProviderNames, type ModelPage, type ProviderNames } from "./model_responses.ts";
import { type Period, type PriceChange, recentPeriod } from "./price_steps.ts";

/** Steps of a sparkline. */
const MAX_CHANGES = 20;

/** Changes of the input price by `provider/modelId`. */
type Changes = ReadonlyMap<string, readonly PriceChange[]>;

/** Shows a page of models. The query is that of `GET /models`; empty values count as left out. */
export async function showModels(page: Page): Promise<PageResult> {
  const query = knownQuery(page.url, MODEL_LIST_QUERY);
  if (query.get("format") === "csv") return seeOther(`/api/v1/models?${query}`);
  const [{ data }, names, { data: held }] = await Promise.all([
    page.call(listModels, { query: changed(query, { facets: "true" }) }),
    loadProviderNames(page),
    page.call(listHeldPrices),
  ]);
  // With `facets=true`, they are there.
  const list = data as ModelPage;
  const period = recentPeriod();
  const changes = await loadChanges(page, list, period);
  return {
    title: "Models",
    section: "models",
    head: html`<meta name="description" content="Prices, limits and capabilities of AI models.">
<script type="module" src="/dashboard/assets/compare_models.js"></script>`,
    main: renderModels({ list, names, changes, period, query, waiting: held.document }),
  };
}

/** Loads the price changes of all rows with one call. */
async function loadChanges(page: Page, { models }: ModelPage, { from }: Period): Promise<Changes> {
  const priced = models.filter(({ cost }) => cost !== null);
  if (priced.length === 0) return new Map();
  const since = new Date(from).toISOString();
  const { data } = await page.call(listRecentPriceChanges, {
    query: { field: "input", since, limit: MAX_CHANGES, model: priced.map(modelName) },
  });
  return new Map(data.models.map((model) => [modelName(model), model.changes]));
}

interface ModelsView {
  list: ModelPage;
  names: ProviderNames;
  changes: Changes;
  period: Period;
  query: URLSearchParams;
  waiting: Held["document"];
}

function renderModels({ list, names, changes, period, query, waiting }: ModelsView): Html {
  const { models, total } = list;
  return html`<div class="pager">
  <div>
    <h1>Models</h1>
    <p class="quiet">${countOf(total, "model")} · US dollars per million tokens · ${describeOrigin(list)}</p>
  </div>
  <a class="button" href="${withQuery("/api/v1/models", changed(query, { limit: null, offset: null, format: "csv" }))}">Download CSV</a>
</div>
${waiting && renderWaiting(waiting)}
<div class="columns">
${listFilters({ query, names, facets: list.facets })}
<section class="stack" aria-label="Models">
${models.length === 0 ? emptyState(html`No models match these filters. <a href="/models">Show all models</a>`) : listTable({ models, names, changes, period, query })}
${pager({ ...list, shown: models.length }, (to) => withQuery("/models", changed(query, { offset: to })))}
</section>
</div>`;
}

/** Says that the source has a catalog which is not shown, because it would take too much from this one. */
function renderWaiting({ firstSeenAt, rejected }: NonNullable<Held["document"]>): Html {
  return html`<p class="notice">Since ${renderDay(firstSeenAt)}, the source’s catalog lacks too many models or prices to be used. You see the previous one. ${rejected ? "An operator has rejected the new one as a mistake." : "A later sync or an operator may confirm the new one."}</p>`;
}

function describeOrigin({ catalog: { source, dataDate } }: ModelPage): Html {
  if (source === null) return html`not synced yet`;
  const from = source === "bundled" ? "the bundled catalog" : source === "file" ? "a file" : source;
  return html`from ${from}${dataDate !== null && html`, data of ${renderDay(dataDate)}`}`;
}
