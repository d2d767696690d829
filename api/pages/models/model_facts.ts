/** The column beside a model: limits, capabilities, names, dates, links. */
import { MODEL_CAPABILITIES } from "../../../shared/vocabulary.ts";
import { type Content, type Html, html, webUrl } from "../html.ts";
import { modelName, modelPath, withQuery } from "./addresses.ts";
import { CAPABILITY_LABELS, formatDay, UNKNOWN } from "./format.ts";
import type { Alias, FullModel } from "./model_responses.ts";

interface Facts {
  model: FullModel;
  aliases: readonly Alias[];
  /** What the name of its family stands for, if that is another model. */
  newest: FullModel | null;
  org: string | null;
}

export function modelFacts({ model, aliases, newest, org }: Facts): Html {
  const { limits, capabilities, modalities, provider, modelId } = model;
  const withCapability = MODEL_CAPABILITIES.filter((name) => capabilities[name]);
  return html`<aside class="side" aria-label="About this model">
${newest && section("Newest of its family", html`<a href="${withQuery(modelPath(newest), [], org)}">${newest.name}</a> <small>${model.family} stands for it</small>`)}
${section("Aliases", aliasList(aliases))}
${section(
  "Limits",
  facts([
    ["Context", tokens(limits?.context)],
    ["Output", tokens(limits?.output)],
  ]),
)}
${section("Capabilities", html`<ul class="tags">${withCapability.map((name) => html`<li class="tag">${CAPABILITY_LABELS[name]}</li>`)}</ul>${withCapability.length === 0 && "None known"}`)}
${section(
  "Modalities",
  facts([
    ["Input", modalities.input.join(", ") || UNKNOWN],
    ["Output", modalities.output.join(", ") || UNKNOWN],
  ]),
)}
${section("Details", facts(details(model)))}
${section(
  "Links",
  html`<p><a href="${withQuery("/models/compare", [["model", modelName(model)]], org)}">Compare with another</a></p>
<p><a href="/api/v1${modelPath({ provider, modelId })}">This model as JSON</a></p>
${logo(model)}`,
)}
</aside>`;
}

function details(model: FullModel): [string, Content][] {
  const {
    provider,
    providerModelId,
    family,
    tier,
    status,
    openWeights,
    releaseDate,
    knowledgeCutoff,
    syncedAt,
  } = model;
  return [
    ["Provider", provider],
    ["ID there", html`<code>${providerModelId}</code>`],
    ["Family", family ?? UNKNOWN],
    ["Tier", tier],
    ["Status", status],
    ["Weights", openWeights ? "open" : "closed"],
    ["Released", formatDay(releaseDate)],
    ["Knowledge", formatDay(knowledgeCutoff)],
    ["Synced", html`<time datetime="${syncedAt}">${formatDay(syncedAt)}</time>`],
  ];
}

function section(title: string, content: Content): Html {
  return html`<section><h2>${title}</h2><div>${content}</div></section>`;
}

function facts(rows: readonly (readonly [string, Content])[]): Html {
  return html`<dl class="fact-list">${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function tokens(limit: number | undefined): string {
  return limit === undefined ? UNKNOWN : `${limit.toLocaleString("en-US")} tokens`;
}

function aliasList(aliases: readonly Alias[]): Content {
  if (aliases.length === 0) return "No alias stands for this model.";
  return html`<ul class="tags">${aliases.map(({ alias, deprecated }) => html`<li class="tag"><code>${alias}</code>${deprecated && " (deprecated)"}</li>`)}</ul>`;
}

/** A link, because images of other hosts are not loaded. */
function logo({ logoUrl }: FullModel): Html | null {
  const url = webUrl(logoUrl);
  return url === null
    ? null
    : html`<p><a href="${url}" rel="nofollow noopener noreferrer">Logo of the provider</a></p>`;
}
