/** The filters of the model list: a form whose fields are the API's query parameters. */
import { MODEL_CAPABILITIES, MODEL_STATUSES, MODEL_TIERS } from "../../../shared/vocabulary.ts";
import { type Html, html } from "../html.ts";
import { withQuery } from "./addresses.ts";
import { CAPABILITY_LABELS, formatTokens } from "./format.ts";

export interface Provider {
  id: string;
  name: string;
}

interface Filters {
  query: URLSearchParams;
  providers: readonly Provider[];
  org: string | null;
}

/** As many tokens of context at least. */
const CONTEXTS = ["32000", "128000", "200000", "1000000"];
/** Hides free models and unknown prices. */
const PRICED = "0.01";

/** Parameters that the form sends by fields of its own; it keeps the others. */
const OWN_FIELDS = new Set([
  ...["search", "provider", "tier", "status", "capability", "minInputCost", "minContext", "openWeights"],
  "offset",
]);

/** Renders the form. It works without JavaScript; fields that are left empty count as left out. */
export function listFilters({ query, providers, org }: Filters): Html {
  const kept = [...query].filter(([name]) => !OWN_FIELDS.has(name));
  if (org !== null) kept.push(["org", org]);
  const hasFilters = [...query].some(
    ([name]) => OWN_FIELDS.has(name) && !["search", "offset"].includes(name),
  );
  const named = providers.map(({ id, name }): [string, string] => [id, name]);
  return html`<form class="facets" method="get" action="/models" role="search" aria-label="Models">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="form-field"><label for="search">Search</label>
<input id="search" name="search" type="search" maxlength="500" value="${query.get("search")}" placeholder="Name or id"></div>
<details class="more-filters"${hasFilters && html` open`}><summary>Filters</summary>
<div>
${choose("provider", "Provider", named, query)}
${choose("tier", "Tier", MODEL_TIERS.map(labeled), query)}
${choose("status", "Status", MODEL_STATUSES.map(labeled), query)}
<fieldset><legend>Capabilities</legend>
${MODEL_CAPABILITIES.map((name) => box("capability", [name, CAPABILITY_LABELS[name] ?? name], query))}
</fieldset>
<fieldset><legend>Show only</legend>
${priceBox(query)}
${box("openWeights", ["true", "Open weights"], query)}
</fieldset>
${choose("minContext", "Context", contextOptions(query.get("minContext")), query)}
</div></details>
<div class="actions"><button type="submit" class="primary">Apply</button> <a href="${withQuery("/models", [], org)}">Clear</a></div>
</form>`;
}

type Option = readonly [value: string, label: string];

function labeled(word: string): Option {
  return [word, word.charAt(0).toUpperCase() + word.slice(1)];
}

/** A limit of an address is offered too. */
function contextOptions(given: string | null): Option[] {
  const limits = given === null || CONTEXTS.includes(given) ? CONTEXTS : [...CONTEXTS, given];
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

function box(name: string, [value, label]: Option, query: URLSearchParams): Html {
  const checked = query.getAll(name).includes(value);
  return html`<label class="choice"><input type="checkbox" name="${name}" value="${value}"${checked && html` checked`}> ${label}</label>`;
}

function choose(name: string, label: string, options: readonly Option[], query: URLSearchParams): Html {
  const given = query.get(name);
  return html`<div class="form-field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}"><option value="">Any</option>${options.map(
    ([value, text]) => html`<option value="${value}"${value === given && html` selected`}>${text}</option>`,
  )}</select></div>`;
}
