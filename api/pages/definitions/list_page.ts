/** GET /definitions: search and filters, with the query parameters of the API's list. */
import { ApiError } from "../../../shared/errors.ts";
import { LIST_QUERY, listDefinitions } from "../../definitions/list.ts";
import type { ListedDefinition } from "../../definitions/schemas.ts";
import { changed, knownQuery, organizationOf, withQuery } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import type { Page } from "../page.ts";
import { badge, countOf, emptyState, pager } from "../parts.ts";
import { renderTags, versionBadge } from "./definition_frame.ts";
import { renderFacets } from "./list_facets.ts";
import { listedPath, renderDraftLink } from "./listed_version.ts";

/** Of a page without `limit`. */
const PAGE_SIZE = "25";
/** Of the API's `search`. */
const SEARCH_MAX_LENGTH = 500;

type ListJson = ResponseOf<typeof listDefinitions>["data"];

/** Shows one page of the list. A query that the API refuses is shown with its problem and status. */
export async function showList(opened: Page): Promise<PageContent> {
  const url = new URL(withQuery("/definitions", knownQuery(opened.url, LIST_QUERY)), opened.url);
  const page = { ...opened, url };
  const { results, problem } = await loadResults(page);
  const search = page.url.searchParams.get("search")?.trim();
  return {
    title: search ? `${search} · Definitions` : "Definitions",
    section: "definitions",
    status: problem?.status ?? 200,
    head: html`<meta name="description" content="Agents, commands, workflows and pipelines, as versioned YAML and Markdown.">`,
    main: html`<div class="title"><h1>Definitions</h1>
${page.session && html`<a class="button primary" href="/definitions/new">New definition</a>`}</div>
<p class="lead">Agents, commands, workflows and pipelines, as versioned YAML and as the Markdown that coding agents load.</p>
<div class="columns">
${renderFacets(problem ? { ...page, url: withoutFilters(page.url) } : page)}
<section class="stack" aria-labelledby="results">
${results}
${problem === null && renderDraftSearch(page)}
</section>
</div>`,
  };
}

/** A search looks at the version that is shown, not at the draft beside it. */
function renderDraftSearch({ url, session }: Page): Content {
  const { searchParams } = url;
  if (session === null || !searchParams.get("search")?.trim() || searchParams.get("status")) return null;
  const drafts = withQuery("/definitions", changed(searchParams, { status: "draft", offset: null }));
  return html`<p class="quiet">This search skips drafts of published definitions. <a href="${drafts}">Search drafts</a></p>`;
}

/** A filter that the API rejects is not repeated in every link. What was typed into the search box stays. */
function withoutFilters(url: URL): URL {
  const bare = new URL(url.pathname, url);
  const search = url.searchParams.get("search");
  if (search) bare.searchParams.set("search", search.slice(0, SEARCH_MAX_LENGTH));
  return bare;
}

async function loadResults({ call, url }: Page): Promise<{ results: Html; problem: ApiError | null }> {
  const query = new URLSearchParams(url.searchParams);
  if (!query.has("limit")) query.set("limit", PAGE_SIZE);
  if (!query.has("publishedFirst")) query.set("publishedFirst", "true");
  try {
    const { data } = await call(listDefinitions, { query });
    return { results: renderResults(data, url), problem: null };
  } catch (error) {
    if (error instanceof ApiError && error.code === "VALIDATION_ERROR")
      return { results: renderProblem(error), problem: error };
    throw error;
  }
}

function renderProblem({ message }: ApiError): Html {
  return html`<p class="problem" role="alert">${message} <a href="/definitions">Show all definitions</a></p>`;
}

function renderResults(list: ListJson, url: URL): Html {
  const { definitions, total, limit, offset } = list;
  const shown = definitions.length;
  return html`<h2 id="results">${countOf(total, "definition")}</h2>
${
  shown === 0
    ? emptyState(html`Nothing matches. <a href="/definitions">Show all definitions</a>`)
    : html`<ul class="rows">${definitions.map((definition) => renderRow(definition, url))}</ul>`
}
${pager({ offset, limit, total, shown }, (to) => withQuery("/definitions", changed(url.searchParams, { offset: to })))}`;
}

function renderRow(definition: ListedDefinition, url: URL): Html {
  const { type, name, displayName, description, tags, executionCount, visibility } = definition;
  const organization = organizationOf(definition);
  const path = listedPath(definition, { isLatest: url.searchParams.get("latestOnly") !== "false" });
  return html`<li class="row">
<h3><a href="${path}">${displayName}</a> <small>${name}</small></h3>
<p class="row-facts">${badge(type, `kind ${type}`)} ${versionBadge(definition)} ${renderDraftLink(definition)}${visibility === "private" && html` ${badge("private")}`} <a href="${withQuery("/definitions", { organization })}">@${organization}</a> <span class="quiet">${countOf(executionCount, "execution")}</span></p>
<p class="row-text">${description}</p>
${renderTags(tags)}
</li>
`;
}
