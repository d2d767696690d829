/** Renders the search and filters of the definition list as links, with a form for text input. */
import { DEFINITION_DOMAINS, DEFINITION_STATUSES, DEFINITION_TYPES } from "../../../shared/vocabulary.ts";
import { changed, withQuery } from "../addresses.ts";
import { type FormProblems, fieldError, formField, inputField, renderOptions } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { Page } from "../page.ts";

/** Parameters with a control in the form. The form keeps the other parameters as hidden fields. */
export const TYPED_FIELDS: readonly string[] = ["search", "tag", "sortBy"];

/** Archived definitions are never listed. */
const STATUSES = DEFINITION_STATUSES.filter((status) => status !== "archived");

/** Sort options in addition to the default, which is the best match for a search and the newest definition otherwise. */
const SORTS: readonly (readonly [value: string, label: string])[] = [
  ["executionCount", "Most executions"],
  ["updatedAt", "Last updated"],
];

/**
 * Renders the filter column. Members can filter by status and by their organizations. A rejected value stays in its field, but
 * links omit it.
 */
export function renderFacets(
  { url, session }: Pick<Page, "url" | "session">,
  problems: FormProblems | null,
): Html {
  const accepted = withoutRefused(url, problems);
  const organizations = session?.organizations.map(({ slug, name }): Choice => [slug, name]) ?? [];
  const chosen = listChosen(accepted);
  const hasFilters = listChosen(url).some(([name]) => name !== "search");
  const problemOf = (name: string) => problems?.fields.get(name);
  const facet = (name: string, label: string, choices: readonly Choice[]) =>
    renderFacet(accepted, { name, label, problem: problemOf(name) }, choices);
  return html`<div class="facets">
<form class="search" id="filter-form" role="search" aria-label="Definitions" method="get" action="/definitions">
<label for="field-search">Search</label>
<input id="field-search" name="search" type="search" maxlength="500" value="${url.searchParams.get("search")}" placeholder="code review">
<button type="submit" class="primary">Search</button>
</form>
${fieldError("search", problemOf("search"))}
<details class="more-filters"${hasFilters && html` open`}><summary>Filters</summary>
<div>
${renderTyped(url, problems)}
${keptFields(accepted)}
${facet("type", "Type", DEFINITION_TYPES.map(same))}
${organizations.length > 0 && facet("organization", "Organization", organizations)}
${session && facet("status", "Status", STATUSES.map(same))}
${facet("domain", "Domain", DEFINITION_DOMAINS.map(same))}
</div></details>
${renderChosen(accepted, chosen)}
</div>`;
}

function withoutRefused(url: URL, problems: FormProblems | null): URL {
  const accepted = new URL(url);
  for (const name of problems?.fields.keys() ?? []) accepted.searchParams.delete(name);
  return accepted;
}

function filteredPath({ searchParams }: URL, changes: Readonly<Record<string, string | null>>): string {
  return withQuery("/definitions", changed(searchParams, { ...changes, offset: null }));
}

function pathWithout({ searchParams }: URL, [name, value]: Choice): string {
  const rest = changed(searchParams, { offset: null });
  rest.delete(name, value);
  return withQuery("/definitions", rest);
}

type Choice = readonly [value: string, label: string];

function same(word: string): Choice {
  return [word, word];
}

/** Renders hidden fields for filters that have no control in the form. Only the first tag has a control. */
function keptFields({ searchParams }: URL): Html[] {
  const isTyped = (name: string, value: string) =>
    TYPED_FIELDS.includes(name) && value === searchParams.get(name);
  const kept = [...searchParams].filter(
    ([name, value]) => name !== "offset" && value !== "" && !isTyped(name, value),
  );
  return kept.map(
    ([name, value]) => html`<input type="hidden" form="filter-form" name="${name}" value="${value}">`,
  );
}

/** Renders the fields of the search form that are among the filters. */
function renderTyped({ searchParams }: URL, problems: FormProblems | null): Html {
  const isSearch = (searchParams.get("search") ?? "") !== "";
  const sorts = isSearch
    ? [["", "Best match"] as const, ...SORTS, ["createdAt", "Newest"] as const]
    : [["", "Newest"] as const, ...SORTS];
  const sortBy = searchParams.get("sortBy") ?? "";
  const offered = sorts.some(([value]) => value === sortBy) ? sorts : [...sorts, same(sortBy)];
  return html`${inputField({ name: "tag", label: "Tag", problems }, html`form="filter-form" type="text" maxlength="500" value="${searchParams.get("tag")}" autocapitalize="off"`)}
${formField({ name: "sortBy", label: "Order", problems }, (own) => html`<select ${own} form="filter-form">${renderOptions(offered, sortBy)}</select>`)}
<div><button type="submit" form="filter-form">Apply</button></div>`;
}

/** Renders a filter as a list of links. The link of the chosen value removes the filter. */
function renderFacet(
  url: URL,
  { name, label, problem }: { name: string; label: string; problem: string | undefined },
  choices: readonly Choice[],
): Html {
  const chosen = url.searchParams.get(name);
  const items = choices.map(([value, text]) => {
    const isChosen = value === chosen;
    const href = filteredPath(url, { [name]: isChosen ? null : value });
    return html`<li><a href="${href}"${isChosen && html` aria-current="true"`}>${text}</a></li>`;
  });
  return html`<details${(name === "type" || chosen !== null || problem !== undefined) && html` open`}><summary>${label}</summary>
<ul>${items}</ul>${fieldError(name, problem)}</details>`;
}

/** Returns the search and the filters in the address. */
function listChosen({ searchParams }: URL): Choice[] {
  return [...searchParams].filter(([name, value]) => !["offset", "limit"].includes(name) && value !== "");
}

/** Renders links that remove the chosen filters, even those without a facet, such as an organization of other users. */
function renderChosen(url: URL, chosen: readonly Choice[]): Content {
  if (chosen.length === 0) return null;
  const items = chosen.map(
    ([name, value]) =>
      html`<li><a href="${pathWithout(url, [name, value])}"><span class="visually-hidden">Remove the filter </span>${name}: ${value} <span aria-hidden="true">×</span></a></li>`,
  );
  return html`<div class="chosen"><h2>Chosen</h2><ul>${items}</ul><p><a href="/definitions">Clear all</a></p></div>`;
}
