/** The table of the model list, inside of the form that compares the selected models. */
import { type Html, html } from "../html.ts";
import { changed, modelName, modelPath, withQuery } from "./addresses.ts";
import { formatPrice, formatTokens, UNKNOWN } from "./format.ts";
import { MAX_COMPARED, type ModelItem } from "./model_responses.ts";
import { type Period, type PriceChange, priceSteps } from "./price_steps.ts";
import { sparkline } from "./sparkline.ts";

interface ListTable {
  models: readonly ModelItem[];
  /** Changes of the input price by `provider/modelId`. */
  changes: ReadonlyMap<string, readonly PriceChange[]>;
  period: Period;
  query: URLSearchParams;
  org: string | null;
}

/** Columns with the API's sort key; the list without one is in the order of providers. */
const COLUMNS = [
  { label: "Model", sortBy: "name" },
  { label: "Provider", sortBy: "" },
  { label: "Input", sortBy: "inputCost", isNumber: true },
  { label: "Output", sortBy: "outputCost", isNumber: true },
  { label: "Cache read", sortBy: "cacheReadCost", isNumber: true },
  { label: "Context", sortBy: "contextLimit", isNumber: true },
  { label: "Released", sortBy: "releaseDate" },
] as const;

/** Renders the rows with checkboxes, and the button that leads to the comparison. */
export function listTable(table: ListTable): Html {
  const { models, query, org } = table;
  return html`<form method="get" action="/models/compare" class="stack">
${org !== null && html`<input type="hidden" name="org" value="${org}">`}
<div class="table-box" tabindex="0" role="region" aria-label="Models and prices">
<table class="data-table models">
<thead><tr><th scope="col"><span class="visually-hidden">Compare</span></th>${COLUMNS.map((column) => heading(column, query, org))}<th scope="col">90 days</th></tr></thead>
<tbody>
${models.map((model) => row(model, table))}
</tbody>
</table>
</div>
<div class="notice bottom-bar"><button type="submit" class="primary">Compare selected</button> <span>Select up to ${MAX_COMPARED} models.</span></div>
</form>`;
}

/** A second click sorts the other way around. */
function heading(
  { label, sortBy, ...column }: { label: string; sortBy: string; isNumber?: true },
  query: URLSearchParams,
  org: string | null,
): Html {
  const isCurrent = (query.get("sortBy") ?? "") === sortBy;
  const isDescending = query.get("sortOrder") === "desc";
  const sortOrder = isCurrent && !isDescending ? "desc" : "";
  const address = withQuery("/models", changed(query, { sortBy, sortOrder, offset: "" }), org);
  const direction = isDescending ? "descending" : "ascending";
  return html`<th scope="col"${column.isNumber && html` class="number"`}${isCurrent && html` aria-sort="${direction}"`}><a href="${address}">${label}${isCurrent && html` <span aria-hidden="true">${isDescending ? "↓" : "↑"}</span>`}</a></th>`;
}

function row(model: ModelItem, { changes, period, org }: ListTable): Html {
  const { provider, modelId, name, cost, limits, releaseDate, status } = model;
  const key = modelName(model);
  const steps = priceSteps(changes.get(key) ?? [], { field: "input", current: cost?.input ?? null, period });
  return html`<tr>
<td><input type="checkbox" name="model" value="${key}" aria-label="Compare ${name}, ${key}"></td>
<th scope="row"><a href="${withQuery(modelPath(model), [], org)}">${name}</a>${status !== "available" && html` <span class="badge">${status}</span>`}<span class="id" title="${modelId}">${modelId}</span></th>
<td><a href="${withQuery("/models", [["provider", provider]], org)}">${provider}</a></td>
<td class="number">${formatPrice(cost?.input)}</td><td class="number">${formatPrice(cost?.output)}</td><td class="number">${formatPrice(cost?.cacheRead)}</td>
<td class="number">${formatTokens(limits?.context)}</td><td class="date">${releaseDate ?? UNKNOWN}</td>
<td>${(cost !== null && sparkline(steps, period)) || UNKNOWN}</td>
</tr>`;
}
