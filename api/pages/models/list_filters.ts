/** The filters of the model list: a form whose fields are the API's query parameters. */
import { MODEL_CAPABILITIES, MODEL_STATUSES, MODEL_TIERS } from "../../../shared/vocabulary.ts";
import { choiceGroup, type FormProblems, inputField, selectField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { capitalized, formatCount } from "../parts.ts";
import { CAPABILITY_LABELS, formatTokens } from "./format.ts";
import type { ModelPage, ProviderNames } from "./model_responses.ts";

interface Filters {
  query: URLSearchParams;
  names: ProviderNames;
  facets: ModelPage["facets"];
  problems: FormProblems | null;
}

/** Options for the minimum number of context tokens. */
const CONTEXTS = ["32000", "128000", "200000", "1000000"];
/** A minimum price that hides free models and unknown prices. No real price is this low. */
export const PRICED = "1e-12";

/** Parameters with a field in the form. The form keeps the other parameters, except the offset. */
export const FILTER_FIELDS: ReadonlySet<string> = new Set([
  "search",
  "provider",
  "tier",
  "status",
  "capability",
  "minInputCost",
  "minContext",
  "openWeights",
]);

/** Renders the form, which works without JavaScript. Empty fields are ignored. */
export function listFilters({ query, names, facets, problems }: Filters): Html {
  const refused = (name: string) => problems?.fields.has(name) ?? false;
  // Rejected values that have no field are omitted. Otherwise, the form would send them again.
  const kept = [...query].filter(([name]) => !FILTER_FIELDS.has(name) && name !== "offset" && !refused(name));
  const hasFilters = [...query].some(([name]) => FILTER_FIELDS.has(name) && name !== "search");
  const counted = (name: keyof typeof facets, options: readonly Option[]) => {
    const given = query.getAll(name);
    const offered = refused(name) ? withGiven(options, given) : options;
    return withCounts(offered, { counts: facets[name], given });
  };
  const choose = (name: string, label: string, options: readonly Option[]) => {
    const shown = options.map(([value, text, count]) => [value, [text, count && ` (${count})`]] as const);
    return (
      options.length > 0 && selectField({ name, label, problems }, [["", "Any"], ...shown], query.get(name))
    );
  };
  const check = (name: string, label: string, options: readonly Option[]) =>
    options.length > 0 &&
    choiceGroup(
      "checkbox",
      { name, label, problem: problems?.fields.get(name) },
      options.map(([value, text, count]) => [
        value,
        [text, count && html` <small class="count">${count}</small>`],
      ]),
      query.getAll(name),
    );
  const capabilities = MODEL_CAPABILITIES.map((name): Option => [name, CAPABILITY_LABELS[name]]);
  return html`<form class="facets" method="get" action="/models" role="search" aria-label="Models">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${inputField({ name: "search", label: "Search", problems }, html`type="search" maxlength="500" value="${query.get("search")}" placeholder="Name or id"`)}
<details class="more-filters"${hasFilters && html` open`}><summary>Filters</summary>
<div>
${choose("provider", "Provider", counted("provider", listProviders({ query, names, facets })))}
${choose("tier", "Tier (derived)", counted("tier", MODEL_TIERS.map(labeled)))}
${choose("status", "Status", counted("status", MODEL_STATUSES.map(labeled)))}
${check("capability", "Capabilities", counted("capability", capabilities))}
${check("minInputCost", "Price", [priceOption(query.get("minInputCost"))])}
${check("openWeights", "Weights", counted("openWeights", [weightsOption(query.get("openWeights"))]))}
${choose("minContext", "Context", contextOptions(query.get("minContext")))}
</div></details>
<div class="actions"><button type="submit" class="primary">Apply</button> <a href="/models">Clear</a></div>
</form>`;
}

/** Created once, because `localeCompare` with a locale creates a collator for each comparison. */
const byName = new Intl.Collator("en");

type Option = readonly [value: string, label: string, count?: string];

/** Adds the given values that are not among the options. */
function withGiven(options: readonly Option[], given: readonly string[]): Option[] {
  const others = new Set(given).difference(new Set(options.map(([value]) => value)));
  return [...options, ...[...others].map((value): Option => [value, value])];
}

/** Adds the number of models to each option. An option without models is omitted unless it is chosen. */
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

/** Returns the providers, sorted by name. Includes the provider in the address, even if it is unknown. */
function listProviders({ query, names, facets }: Omit<Filters, "problems">): Option[] {
  const ids = new Set([...Object.keys(facets.provider), ...query.getAll("provider")]);
  return [...ids].map((id): Option => [id, names.get(id) ?? id]).sort(([, a], [, b]) => byName.compare(a, b));
}

function labeled(word: string): Option {
  return [word, capitalized(word)];
}

/** Returns the options for a minimum context. Includes the value in the address. */
function contextOptions(value: string | null): Option[] {
  const limits = value === null || CONTEXTS.includes(value) ? CONTEXTS : [...CONTEXTS, value];
  return limits.map(
    (limit): Option => [
      limit,
      Number.isFinite(Number(limit)) ? `${formatTokens(Number(limit))} or more` : limit,
    ],
  );
}

/** Returns the option for open weights, or for closed weights if the address requests them. */
function weightsOption(given: string | null): Option {
  return given === "false" ? ["false", "Closed weights"] : ["true", "Open weights"];
}

/** Returns the option for a minimum price. Any minimum hides free models and unknown prices. */
function priceOption(given: string | null): Option {
  return given === null || given === PRICED
    ? [PRICED, "Hide free and unknown"]
    : [given, `Input from $${given}`];
}
