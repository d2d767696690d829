/** The model of a definition, with its prices of today. */
import type { Cost } from "../../models/price_json.ts";
import { modelPath } from "../addresses.ts";
import { type Html, html } from "../html.ts";

/** What the page shows of a model of the catalog. */
export interface PricedModel {
  provider: string;
  modelId: string;
  name: string;
  cost: Cost | null;
}

/** Renders the alias, the model it stands for, and what a million tokens of it cost. */
export function renderModel(alias: string, model: PricedModel | null): Html {
  if (model === null) return html`<p><code>${alias}</code></p>`;
  const { provider, modelId, name, cost } = model;
  const path = modelPath({ provider, modelId });
  return html`<p><code>${alias}</code> → <a href="${path}">${name}</a></p>
<p class="quiet">${cost === null ? "No known price" : renderCost(cost)}</p>`;
}

function renderCost({ input, output }: Cost): string {
  const prices = [input, output].map((price) => (price === undefined ? "unknown" : `$${price}`));
  return `${prices.join(" in, ")} out per 1M tokens`;
}
