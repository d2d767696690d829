/** The table of the model list, inside the form that compares the selected models. */
import { modelName } from "../../../shared/models/model_name.ts";
import { changed, modelPath, withQuery } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import { badge, dataTable, formatPrice, renderDay, UNKNOWN } from "../parts.ts";
import { formatTokens } from "./format.ts";
import { PRICED } from "./list_filters.ts";
import { MAX_COMPARED, type ModelItem, type ProviderNames, stepsOf } from "./model_responses.ts";
import { sparkline } from "./price_plot.ts";
import type { Period, PriceChange } from "./price_steps.ts";

interface PriceHistory {
  pricesKnownSince: string;
  /** Changes of the input price, newest first. */
  changes: readonly PriceChange[];
}

export interface ListTable {
  models: readonly ModelItem[];
  names: ProviderNames;
  /** Price histories of the models with a price, by `provider/modelId`. */
  histories: ReadonlyMap<string, PriceHistory>;
  period: Period;
  query: URLSearchParams;
}

interface Column {
  label: string;
  /** The API's `sortBy` value; empty for the default order by provider. */
  sortBy: string;
  /** CSS classes. `wide` columns are hidden in a small window, `medium` columns on a phone. */
  classes?: string;
}

const COLUMNS: readonly Column[] = [
  { label: "Model", sortBy: "name" },
  { label: "Provider", sortBy: "", classes: "wide" },
  { label: "Input", sortBy: "inputCost", classes: "number" },
  { label: "Output", sortBy: "outputCost", classes: "number" },
  { label: "Cache read", sortBy: "cacheReadCost", classes: "number medium" },
  { label: "Context", sortBy: "contextLimit", classes: "number" },
  { label: "Released", sortBy: "releaseDate", classes: "medium" },
];

/** Renders the rows with checkboxes, and the button that opens the comparison. */
export function listTable(table: ListTable): Html {
  const { models, query } = table;
  const columns = [
    html`<th scope="col"><span class="visually-hidden">Compare</span></th>`,
    ...COLUMNS.map((column) => heading(column, query)),
    html`<th scope="col" class="wide">90 days</th>`,
  ];
  const rows = models.map((model) => row(model, table));
  return html`<form method="get" action="/models/compare" class="stack" data-compares="${MAX_COMPARED}">
${dataTable("Models and prices", columns, rows, "models")}
<div class="notice bottom-bar"><button type="submit" class="primary">Compare selected</button> <span role="status">Select up to ${MAX_COMPARED} models.</span> <button type="button" hidden>Clear selection</button></div>
</form>`;
}

/** Renders a sortable heading. A second click reverses the order. The first sort by price hides free models and unknown prices. */
function heading({ label, sortBy, classes }: Column, query: URLSearchParams): Html {
  const current = query.get("sortBy") ?? "";
  const isCurrent = current === sortBy;
  const isDescending = query.get("sortOrder") === "desc";
  const sortOrder = isCurrent && !isDescending ? "desc" : "";
  const hidesFree = sortBy.endsWith("Cost") && !current.endsWith("Cost") && !query.has("minInputCost");
  const changes = { sortBy, sortOrder, offset: "", ...(hidesFree ? { minInputCost: PRICED } : {}) };
  const address = withQuery("/models", changed(query, changes));
  const direction = isDescending ? "descending" : "ascending";
  return html`<th scope="col"${classes !== undefined && html` class="${classes}"`}${isCurrent && html` aria-sort="${direction}"`}><a href="${address}">${label}${isCurrent && html` <span aria-hidden="true">${isDescending ? "↓" : "↑"}</span>`}</a></th>`;
}

function row(model: ModelItem, { names, histories, period }: ListTable): Html {
  const { provider, modelId, name, cost, limits, releaseDate, status } = model;
  const key = modelName(model);
  const providerName = names.get(provider) ?? provider;
  const history = histories.get(key);
  const steps =
    history && stepsOf({ cost, ...history }, { changes: history.changes, field: "input", period });
  return html`<tr>
<td><input type="checkbox" name="model" value="${key}" aria-label="Compare ${name}, ${key}"></td>
<th scope="row"><a href="${modelPath(model)}">${name}</a>${status !== "available" && html` ${badge(status)}`}<span class="id" title="${modelId}">${modelId}</span><span class="id narrow-only">${providerName}</span></th>
<td class="wide"><a href="${withQuery("/models", { provider })}">${providerName}</a></td>
<td class="number">${formatPrice(cost?.input)}</td><td class="number">${formatPrice(cost?.output)}</td><td class="number medium">${formatPrice(cost?.cacheRead)}</td>
<td class="number">${formatTokens(limits?.context)}</td><td class="medium">${releaseDate === null ? UNKNOWN : renderDay(releaseDate)}</td>
<td class="wide">${(steps && sparkline(steps, period)) || UNKNOWN}</td>
</tr>`;
}
