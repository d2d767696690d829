/** The prices of a model: current ones, a plot of each, and the changes and corrections as tables. */
import { modelPath } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import { dataTable, emptyState, formatCount, formatPrice, numberHeading, renderDay } from "../parts.ts";
import { correctionTable } from "./correction_table.ts";
import { priceLabel } from "./format.ts";
import { type Compared, type FullModel, pricesOf, stepsOf } from "./model_responses.ts";
import { pricePlot } from "./price_plot.ts";
import { type PriceChange, periodSince } from "./price_steps.ts";

/** The maximum number of changes in the table. The API returns all changes. */
const MAX_ROWS = 100;

export function priceSection(priced: Compared): Html {
  const { model, changes } = priced;
  const current = pricesOf(model.cost);
  const fields = [...new Set([...current.keys(), ...changes.map(({ field }) => field)])];
  const corrections = correctionTable([priced]);
  if (fields.length === 0)
    return html`<section class="stack"><h2>Prices</h2>${emptyState("The price of this model is unknown.")}
${corrections}</section>`;
  const period = periodSince([model.pricesKnownSince]);
  // A tier's price is in the same plot as the base price that it replaces.
  const plots = [...Map.groupBy(fields, (field) => field.replace(/^tiers\.\d+\./, ""))].map(([part, names]) =>
    pricePlot({
      id: `plot-${part}`,
      title: `${priceLabel(part)}, ${formatPrice(current.get(part))}`,
      period,
      series: names.map((field) => ({
        label: priceLabel(field),
        steps: stepsOf(model, { changes, field, period }),
      })),
    }),
  );
  return html`<section class="stack" aria-labelledby="prices-title">
<h2 id="prices-title">Prices</h2>
<p class="quiet">US dollars per million tokens. ${describeAge(priced)}</p>
<div class="plots">${plots}</div>
${tiers(model)}
${changeTable(model, changes)}
${corrections}
</section>`;
}

/** Describes the prices of larger requests. A tier is omitted if its prices equal those of the next lower tier or of the base. */
function tiers({ cost }: FullModel): Html | null {
  const { tiers: all = [], ...base } = cost ?? {};
  const applying = new Map<string, number>(Object.entries(base));
  const texts = all.flatMap(({ contextOver, ...stated }) => {
    const prices = Object.entries(stated);
    const isDifferent = prices.some(([field, price]) => applying.get(field) !== price);
    for (const [field, price] of prices) applying.set(field, price);
    const listed = prices.map(([field, price]) => `${formatPrice(price)} ${priceLabel(field).toLowerCase()}`);
    return isDifferent ? `over ${formatCount(contextOver)} tokens of context, ${listed.join(", ")}` : [];
  });
  return texts.length === 0
    ? null
    : html`<p class="quiet">Prices of larger requests: ${texts.join("; ")}.</p>`;
}

function describeAge({ model, changes, corrections }: Compared): Html {
  const day = renderDay(model.pricesKnownSince);
  const isSteady = changes.length === 0 && corrections.length === 0;
  return isSteady ? html`No change since ${day}.` : html`Known since ${day}.`;
}

function changeTable(model: FullModel, changes: readonly PriceChange[]): Html | null {
  if (changes.length === 0) return null;
  const rows = changes.slice(0, MAX_ROWS).map(
    ({ field, oldValue, newValue, changedAt }) => html`<tr>
<td>${renderDay(changedAt)}</td><th scope="row">${priceLabel(field)}</th>
<td class="number">${formatPrice(oldValue)}</td><td class="number">${formatPrice(newValue)}</td><td class="number">${relative(oldValue, newValue)}</td></tr>`,
  );
  const all = `/api/v1${modelPath(model).replace("/models/", "/models/history/")}`;
  return html`${dataTable("Price changes", ["Date", "Price", ...["Before", "After", "Change"].map(numberHeading)], rows)}
<p class="quiet">${changes.length > MAX_ROWS && `The newest ${MAX_ROWS} of ${formatCount(changes.length)} changes. `}<a href="${all}">All changes as JSON</a></p>`;
}

function relative(before: number | null, after: number | null): string {
  if (before === null || after === null || before === 0) return "";
  const percent = Math.round(((after - before) / before) * 100);
  return `${percent > 0 ? "+" : ""}${percent}%`.replace("-", "−");
}
