/** The filters of the model list: a form whose fields are the API's query parameters. */
import { MODEL_CAPABILITIES, MODEL_STATUSES, MODEL_TIERS } from "../../../shared/vocabulary.ts";
import { renderOptions } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { formatCount } from "../parts.ts";
import { CAPABILITY_LABELS, formatTokens } from "./format.ts";
import type { ModelPage, ProviderNames } from "./model_responses.ts";

interface Filters {
  query: URLSearchParams;
  names: ProviderNames;
  facets: ModelPage["facets"];
}

/** As many tokens of context at least. */
const CONTEXTS = ["32000", "128000", "200000", "1000000"];
/** Hides free models and unknown prices: no price is as low. */
export const PRICED = "1e-12";

/** Parameters that the form sends by fields of its own; it keeps the others. */
const OWN_FIELDS = new Set([
  ...["search", "provider", "tier", "status", "capability", "minInputCost", "minContext", "openWeights"],
  "offset",
]);

/** Renders the form. It works without JavaScript; fields that are left empty count as left out. */
export function listFilters({ query, names, facets }: Filters): Html {
  const kept = [...query].filter(([name]) => !OWN_FIELDS.has(name));
  const hasFilters = [...query].some(
    ([name]) => OWN_FIELDS.has(name) && !["search", "offset"].includes(name),
  );
  const counted = (name: keyof typeof facets, options: readonly Option[]) =>
    withCounts(options, { counts: facets[name], given: query.getAll(name) });
  const capabilities = MODEL_CAPABILITIES.map((name): Option => [name, CAPABILITY_LABELS[name]]);
  return html`<form class="facets" method="get" action="/models" role="search" aria-label="Models">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="form-field"><label for="search">Search</label>
<input id="search" name="search" type="search" maxlength="500" value="${query.get("search")}" placeholder="Name or id"></div>
<details class="more-filters"${hasFilters && html` open`}><summary>Filters</summary>
<div>
${choose("provider", "Provider", counted("provider", listProviders({ query, names, facets })), query)}
${choose("tier", "Tier (derived)", counted("tier", MODEL_TIERS.map(labeled)), query)}
${choose("status", "Status", counted("status", MODEL_STATUSES.map(labeled)), query)}
${boxes(
  "Capabilities",
  counted("capability", capabilities).map((option) => box("capability", option, query)),
)}
${boxes("Show only", [
  priceBox(query),
  ...counted("openWeights", [["true", "Open weights"]]).map((option) => box("openWeights", option, query)),
])}
${choose("minContext", "Context", contextOptions(query.get("minContext")), query)}
</div></details>
<div class="actions"><button type="submit" class="primary">Apply</button> <a href="/models">Clear</a></div>
</form>`;
}

/** Made once: `localeCompare` with a locale makes one for each comparison. */
const byName = new Intl.Collator("en");

type Option = readonly [value: string, label: string, count?: string];

/** Adds the number of models. What no model has is left out, unless it is the filter of this list. */
function withCounts(
  options: readonly Option[],
  { counts, given }: { counts: Readonly<Record<string, number>>; given: readonly string[] },
): Option[] {
  return options
    .filter(([value]) => Object.hasOwn(counts, value) || given.includes(value))
    .map(([value, label]): Option => {
      const count = Object.hasOwn(counts, value) ? (counts[value] ?? 0) : 0;
      return [value, label, formatCount(count)];
    });
}

/** Lists providers by name, and the one of the address even if it is unknown. */
function listProviders({ query, names, facets }: Filters): Option[] {
  const ids = new Set([...Object.keys(facets.provider), ...query.getAll("provider")]);
  return [...ids].map((id): Option => [id, names.get(id) ?? id]).sort(([, a], [, b]) => byName.compare(a, b));
}

function labeled(word: string): Option {
  return [word, word.charAt(0).toUpperCase() + word.slice(1)];
}

/** A limit of an address is offered too. */
function contextOptions(value: string | null): Option[] {
  const limits = value === null || CONTEXTS.includes(value) ? CONTEXTS : [...CONTEXTS, value];
  return limits.map(
    (limit): Option => [
      limit,
      Number.isFinite(Number(limit)) ? `${formatTokens(Number(limit))} or more` : limit,
    ],
  );
}

/** Any minimum price hides free models and unknown prices. */
function priceBox(query: URLSearchParams): Html {
  const given = query.get("minInputCost") ?? PRICED;
  return box(
    "minInputCost",
    [given, given === PRICED ? "Hide free and unknown" : `Input from $${given}`],
    query,
  );
}

function boxes(legend: string, choices: readonly Html[]): Html | null {
  return choices.length === 0 ? null : html`<fieldset><legend>${legend}</legend>${choices}</fieldset>`;
}

function box(name: string, [value, label, count]: Option, query: URLSearchParams): Html {
  const checked = query.getAll(name).includes(value);
  return html`<label class="choice"><input type="checkbox" name="${name}" value="${value}"${checked && html` checked`}> <span>${label}</span>${count !== undefined && html` <small class="count">${count}</small>`}</label>`;
}

function choose(
  name: string,
  label: string,
  options: readonly Option[],
  query: URLSearchParams,
): Html | null {
  if (options.length === 0) return null;
  const shown = options.map(
    ([value, text, count]) => [value, [text, count !== undefined && ` (${count})`]] as const,
  );
  return html`<div class="form-field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}"><option value="">Any</option>${renderOptions(shown, query.get(name))}</select></div>`;
}
