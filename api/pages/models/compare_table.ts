/** The table of a comparison: a row for each field, marked where the models differ. */
import { MODEL_CAPABILITIES } from "../../../shared/vocabulary.ts";
import { comparisonPath, modelName, modelPath } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import {
  CAPABILITY_LABELS,
  formatCapability,
  formatDay,
  formatPrice,
  formatTokens,
  NOT_STATED,
  priceLabel,
  UNKNOWN,
} from "./format.ts";
import { type Compared, type FullModel, type ProviderNames, pricesOf } from "./model_responses.ts";

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
  ["Released", ({ releaseDate }) => formatDay(releaseDate)],
  ["Knowledge cutoff", ({ knowledgeCutoff }) => formatDay(knowledgeCutoff)],
];

/** Renders the models as columns. What is unknown of all of them has no row. */
export function comparisonTable(compared: readonly Compared[], providers: ProviderNames): Html {
  const models = compared.map(({ model }) => model);
  const names = models.map(modelName);
  const provider: Field = ["Provider", (model) => providers.get(model.provider) ?? model.provider];
  const fields = [provider, ...HEAD_FIELDS, ...priceFields(models), ...TAIL_FIELDS].filter(([, read]) =>
    models.some((model) => ![UNKNOWN, NOT_STATED].includes(read(model))),
  );
  const columns = models.map((model, index) => {
    const others = names.toSpliced(index, 1);
    return html`<th scope="col"><a href="${modelPath(model)}">${model.name}</a><span class="id">${names[index]}</span> <a class="quiet" href="${comparisonPath(others)}" aria-label="Remove ${model.name}">Remove</a></th>`;
  });
  return html`<div class="table-box" tabindex="0" role="group" aria-label="Comparison">
<table class="data-table compared"><thead><tr><td></td>${columns}</tr></thead>
<tbody>${fields.map((field) => row(field, models))}</tbody></table></div>
${models.length > 1 && html`<p class="quiet"><span class="mark" aria-hidden="true">≠</span> marks where the models differ. Prices are US dollars per million tokens.</p>`}`;
}

/** The prices that one of the models has, in the order of the API. */
function priceFields(models: readonly FullModel[]): Field[] {
  const names = new Set(models.flatMap(({ cost }) => [...pricesOf(cost).keys()]));
  return [...names].map((name) => [priceLabel(name), ({ cost }) => formatPrice(pricesOf(cost).get(name))]);
}

function row([label, read]: Field, models: readonly FullModel[]): Html {
  const values = models.map(read);
  const isDifferent = new Set(values).size > 1;
  return html`<tr${isDifferent && html` class="differs"`}><th scope="row">${label}${isDifferent && html` <span class="mark" role="img" aria-label="differs">≠</span>`}</th>${values.map((value) => html`<td>${value}</td>`)}</tr>`;
}
