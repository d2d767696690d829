/** GET /models/{provider}/{modelId}: all data about one model. */
import { modelName } from "../../../shared/models/model_name.ts";
import { listHeldPrices } from "../../models/held_prices.ts";
import { listModels } from "../../models/list/list.ts";
import { getModel, listModelAliases, resolveModelAlias } from "../../models/models.ts";
import { listModelPriceChanges } from "../../models/price_history.ts";
import { withQuery } from "../addresses.ts";
import { nullIf } from "../api_client.ts";
import { type Content, type Html, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { badge, renderDay } from "../parts.ts";
import { computeCost, costSection } from "./cost_form.ts";
import { priceLabel, priceOrUnknown } from "./format.ts";
import { modelFacts } from "./model_facts.ts";
import { type FullModel, type Held, loadProviderNames, type ProviderNames } from "./model_responses.ts";
import { priceSection } from "./price_section.ts";

interface ModelParams {
  provider: string;
  /** The model id, percent-encoded as in the address. */
  "*": string;
}

/** Shows a model. Throws the API's NOT_FOUND. */
export async function showModel(page: Page, { provider, "*": rest }: ModelParams): Promise<PageResult> {
  const params = { provider, modelId: decodeURIComponent(rest) };
  const model = await page.call(getModel, { params });
  const name = modelName(model);
  const [history, aliases, familyModel, cost, providers, catalog, held] = await Promise.all([
    page.call(listModelPriceChanges, { params }),
    page.call(listModelAliases, { query: { model: name } }),
    findFamilyModel(page, model),
    computeCost(page, model),
    loadProviderNames(page),
    page.call(listModels, { query: { limit: 1 } }),
    page.call(listHeldPrices),
  ]);
  return {
    title: model.name,
    section: "models",
    head: html`<meta name="description" content="${model.description ?? `Prices, limits and capabilities of ${model.name} (${name}).`}">`,
    status: cost?.problems?.status ?? 200,
    main: html`${heading(model, providers)}
${doubts(model, held.data.prices)}
<div class="columns">
<div class="stack">
${priceSection({ model, ...history.data })}
${model.cost !== null && costSection(model, cost)}
</div>
${modelFacts({
  model,
  provider: providers.get(model.provider) ?? model.provider,
  dataDate: catalog.data.catalog.dataDate,
  aliases: aliases.data.aliases,
  familyModel,
})}
</div>`,
  };
}

function heading(model: FullModel, providers: ProviderNames): Html {
  const { provider, name, description, status, tier, goneAt } = model;
  const ofProvider = withQuery("/models", { provider });
  return html`<p class="crumbs"><a href="/models">Models</a> / <a href="${ofProvider}">${providers.get(provider) ?? provider}</a></p>
<div>
<div class="title"><h1>${name}</h1> ${badge(status, status === "available" ? "good" : "bad")} <span class="badge" title="Derived from price, family and id">${tier}</span></div>
${description !== null && html`<p class="lead">${description}</p>`}
<p><code>${modelName(model)}</code></p>
</div>
${goneAt !== undefined && html`<p class="notice">The source no longer lists this model, since ${renderDay(goneAt)}.</p>`}`;
}

/** Explains which source data about a model the catalog has not accepted: an unreadable entry, or doubtful prices. */
function doubts(model: FullModel, held: Held["prices"]): Content {
  const { staleSince } = model;
  const waiting = held.find((one) => modelName(one) === modelName(model));
  const differences = waiting?.changes.map(
    ({ field, oldValue, newValue }) =>
      `${priceLabel(field).toLowerCase()} ${priceOrUnknown(newValue)} instead of ${priceOrUnknown(oldValue)}`,
  );
  return [
    staleSince !== undefined &&
      html`<p class="notice">The source's entry for this model has been unreadable since ${renderDay(staleSince)}. You see the last values that could be read.</p>`,
    waiting &&
      html`<p class="notice">Since ${renderDay(waiting.firstSeenAt)}, the source has ${differences?.join(", ")}. ${waiting.rejected ? "An operator has rejected this as a mistake." : "This may be a mistake: it is not used until a later sync or an operator confirms it."}</p>`,
  ];
}

/** Returns the model to which the family's name resolves; null if this is the same model or the alias is deprecated. */
async function findFamilyModel(page: Page, model: FullModel): Promise<FullModel | null> {
  const { family } = model;
  if (family === null) return null;
  const named = page.call(resolveModelAlias, { params: { alias: family } });
  const found = await nullIf(["NOT_FOUND"], named);
  if (!found || found.data.target === modelName(model)) return null;
  const { data } = await page.call(listModelAliases, { query: { model: found.data.target } });
  const isCurrent = data.aliases.some(({ alias, deprecated }) => alias === family && !deprecated);
  return isCurrent ? found.data.model : null;
}
