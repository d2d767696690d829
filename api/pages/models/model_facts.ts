/** The column beside a model: limits, capabilities, names, dates, links. Unknown facts have no row. */
import { modelName } from "../../../shared/models/model_name.ts";
import { MODEL_CAPABILITIES } from "../../../shared/vocabulary.ts";
import type { Alias } from "../../models/schemas.ts";
import { comparisonPath, modelPath } from "../addresses.ts";
import { type Content, type Html, html } from "../html.ts";
import { formatCount, renderDay } from "../parts.ts";
import { CAPABILITY_LABELS, formatCapability } from "./format.ts";
import type { FullModel } from "./model_responses.ts";

interface Facts {
  model: FullModel;
  /** The name of the model's provider. */
  provider: string;
  /** The newest date in the catalog's data; null if unknown. */
  dataDate: string | null;
  aliases: readonly Alias[];
  /** The model to which the family's name resolves, if it is a different model. An operator may have chosen it. */
  familyModel: FullModel | null;
}

export function modelFacts(options: Facts): Html {
  const { model, aliases, familyModel } = options;
  const { limits, modalities } = model;
  return html`<aside class="side" aria-label="About this model">
${familyModel && section("Alias of its family", html`<code>${model.family}</code> stands for <a href="${modelPath(familyModel)}">${familyModel.name}</a>`)}
${aliases.length > 0 && section("Aliases", html`<ul class="tags">${aliases.map(({ alias, deprecated }) => html`<li class="tag"><code>${alias}</code>${deprecated && " (deprecated)"}</li>`)}</ul>`)}
${facts("Limits", [
  ["Context", tokens(limits?.context)],
  ["Input", tokens(limits?.input)],
  ["Output", tokens(limits?.output)],
])}
${facts(
  "Capabilities",
  MODEL_CAPABILITIES.map((name) => [CAPABILITY_LABELS[name], formatCapability(name, model)]),
)}
${facts("Modalities", [
  ["Input", modalities.input.join(", ")],
  ["Output", modalities.output.join(", ")],
])}
${facts("Details", details(options))}
${section(
  "Links",
  html`<p><a href="${comparisonPath([modelName(model)])}">Compare with another</a></p>
<p><a href="/api/v1${modelPath(model)}">This model as JSON</a></p>`,
)}
</aside>`;
}

type Fact = readonly [term: string, value: Content];

function details({ model, provider, dataDate }: Facts): Fact[] {
  const { providerModelId, family, tier, status, openWeights, releaseDate, knowledgeCutoff, syncedAt } =
    model;
  return [
    ["Provider", provider],
    ["Model ID", html`<code>${providerModelId}</code>`],
    ["Family", family],
    ["Tier, derived", tier],
    ["Status", status],
    ["Weights", openWeights ? "open" : "closed"],
    ["Released", day(releaseDate)],
    ["Knowledge", day(knowledgeCutoff)],
    ["Data of", day(dataDate)],
    ["Synced", day(syncedAt)],
  ];
}

function section(title: string, content: Content): Html {
  return html`<section><h2>${title}</h2><div>${content}</div></section>`;
}

/** Renders a section with the known facts; null if none are known. */
function facts(title: string, rows: readonly Fact[]): Html | null {
  const known = rows.filter(([, value]) => value !== null && value !== "");
  if (known.length === 0) return null;
  const list = known.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`);
  return section(title, html`<dl class="facts">${list}</dl>`);
}

function tokens(limit: number | undefined): string | null {
  return limit === undefined ? null : `${formatCount(limit)} tokens`;
}

function day(date: string | null): Html | null {
  return date === null ? null : renderDay(date);
}
