/** Search and filters of the list of definitions: links, and a form for what is typed. */
import { DEFINITION_DOMAINS, DEFINITION_STATUSES, DEFINITION_TYPES } from "../../../shared/vocabulary.ts";
import { changed, withQuery } from "../addresses.ts";
import { renderOptions } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { Page } from "../page.ts";

/** Parameters of the form itself; the form keeps the others as hidden fields. */
const TYPED: readonly string[] = ["search", "tag", "sortBy"];

/** Archived definitions are never listed. */
const STATUSES = DEFINITION_STATUSES.filter((status) => status !== "archived");

/** The order without `sortBy`: the best match of a search, else the newest. */
const SORTS: readonly (readonly [value: string, label: string])[] = [
  ["executionCount", "Most executions"],
  ["updatedAt", "Last updated"],
];

/** Renders the column beside the results. Members can filter by status and by their organizations. */
export function renderFacets({ url, session }: Pick<Page, "url" | "session">): Html {
  const organizations = session?.organizations.map(({ slug, name }): Choice => [slug, name]) ?? [];
  const chosen = listChosen(url);
  const hasFilters = chosen.some(([name]) => name !== "search");
  return html`<div class="facets">
<form class="search" id="filter-form" role="search" aria-label="Definitions" method="get" action="/definitions">
${keptFields(url)}
<label for="search">Search</label>
<input id="search" name="search" type="search" maxlength="500" value="${url.searchParams.get("search")}" placeholder="code review">
<button type="submit" class="primary">Search</button>
</form>
<details class="more-filters"${hasFilters && html` open`}><summary>Filters</summary>
<div>
${renderTyped(url)}
${renderFacet(url, "type", "Type", DEFINITION_TYPES.map(same))}
${organizations.length > 0 && renderFacet(url, "organization", "Organization", organizations)}
${session && renderFacet(url, "status", "Status", STATUSES.map(same))}
${renderFacet(url, "domain", "Domain", DEFINITION_DOMAINS.map(same))}
</div></details>
${renderChosen(url, chosen)}
</div>`;
}

function filteredPath({ searchParams }: URL, changes: Readonly<Record<string, string | null>>): string {
  return withQuery("/definitions", changed(searchParams, { ...changes, offset: null }));
}

type Choice = readonly [value: string, label: string];

function same(word: string): Choice {
  return [word, word];
}

/** What links and the address have chosen stays when the form is sent. */
function keptFields({ searchParams }: URL): Html[] {
  const kept = [...searchParams].filter(
    ([name, value]) => !TYPED.includes(name) && name !== "offset" && value !== "",
  );
  return kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}

/** Fields of the search form that stand among the filters. */
function renderTyped({ searchParams }: URL): Html {
  const isSearch = (searchParams.get("search") ?? "") !== "";
  const sorts = isSearch
    ? [["", "Best match"] as const, ...SORTS, ["createdAt", "Newest"] as const]
    : [["", "Newest"] as const, ...SORTS];
  const sortBy = searchParams.get("sortBy") ?? "";
  return html`<div class="form-field"><label for="tag">Tag</label>
<input id="tag" form="filter-form" name="tag" type="text" maxlength="500" value="${searchParams.get("tag")}" autocapitalize="off"></div>
<div class="form-field"><label for="sort">Order</label>
<select id="sort" form="filter-form" name="sortBy">${renderOptions(sorts, sortBy)}</select></div>
<div><button type="submit" form="filter-form">Apply</button></div>`;
}

/** One filter: each value is a link, the chosen one removes itself. */
function renderFacet(url: URL, name: string, label: string, choices: readonly Choice[]): Html {
  const chosen = url.searchParams.get(name);
  const items = choices.map(([value, text]) => {
    const isChosen = value === chosen;
    const href = filteredPath(url, { [name]: isChosen ? null : value });
    return html`<li><a href="${href}"${isChosen && html` aria-current="true"`}>${text}</a></li>`;
  });
  return html`<details class="facet"${(name === "type" || chosen !== null) && html` open`}><summary>${label}</summary>
<ul>${items}</ul></details>`;
}

/** Returns the search and the filters of the address. */
function listChosen({ searchParams }: URL): Choice[] {
  return [...searchParams].filter(([name, value]) => !["offset", "limit"].includes(name) && value !== "");
}

/** Each can be removed, also those without a facet of their own, such as an organization of others. */
function renderChosen(url: URL, chosen: readonly Choice[]): Content {
  if (chosen.length === 0) return null;
  const items = chosen.map(
    ([name, value]) =>
      html`<li><a href="${filteredPath(url, { [name]: null })}"><span class="visually-hidden">Remove the filter </span>${name}: ${value} <span aria-hidden="true">×</span></a></li>`,
  );
  return html`<div class="chosen"><h2>Chosen</h2><ul>${items}</ul><p><a href="/definitions">Clear all</a></p></div>`;
}
