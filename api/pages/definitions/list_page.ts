/** GET /definitions: search and filters, with the query parameters of the API's list. */
import { LIST_QUERY, listDefinitions } from "../../definitions/list.ts";
import type { ListedDefinition } from "../../definitions/schemas.ts";
import { changed, knownQuery, organizationOf, withQuery } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { attempt, type FormProblems, problemSummary } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { badge, countOf, emptyState, pager } from "../parts.ts";
import { renderTags, versionBadge } from "./definition_frame.ts";
import { renderFacets, TYPED_FIELDS } from "./list_facets.ts";
import { listedPath, renderDraftLink } from "./listed_version.ts";

/** The page size without `limit`. */
const PAGE_SIZE = "25";

/** Shows one page of the list. If the API rejects the query, the form shows the problems, with the API's status. */
export async function showList(opened: Page): Promise<PageResult> {
  const url = new URL(withQuery("/definitions", knownQuery(opened.url, LIST_QUERY)), opened.url);
  const page = { ...opened, url };
  const { results, problems } = await loadResults(page);
  const search = page.url.searchParams.get("search")?.trim();
  return {
    title: search ? `${search} · Definitions` : "Definitions",
    section: "definitions",
    status: problems?.status,
    head: html`<meta name="description" content="Agents, commands, workflows and pipelines, as versioned YAML and Markdown.">`,
    main: html`<div class="title"><h1>Definitions</h1>
${page.session && html`<a class="button primary" href="/definitions/new">New definition</a>`}</div>
<p class="lead">Agents, commands, workflows and pipelines, as versioned YAML and as the Markdown that coding agents load.</p>
<div class="columns">
${renderFacets(page, problems)}
<section class="stack" aria-labelledby="results">
${results}
${problems === null && renderDraftSearch(page)}
</section>
</div>`,
  };
}

/** Renders a link to a search of drafts. A search covers only the listed version, not the draft next to it. */
function renderDraftSearch({ url, session }: Page): Content {
  const { searchParams } = url;
  if (session === null || !searchParams.get("search")?.trim() || searchParams.get("status")) return null;
  const drafts = withQuery("/definitions", changed(searchParams, { status: "draft", offset: null }));
  return html`<p class="quiet">This search skips drafts of published definitions. <a href="${drafts}">Search drafts</a></p>`;
}

async function loadResults(page: Page): Promise<{ results: Html; problems: FormProblems | null }> {
  const { call, url } = page;
  const query = new URLSearchParams(url.searchParams);
  if (!query.has("limit")) query.set("limit", PAGE_SIZE);
  if (!query.has("publishedFirst")) query.set("publishedFirst", "true");
  const outcome = await attempt(() => call(listDefinitions, { query }));
  if (outcome.ok) return { results: renderResults(outcome.value.data, page), problems: null };
  return { results: renderProblems(outcome.problems), problems: outcome.problems };
}

function renderProblems(problems: FormProblems): Html {
  return html`<h2 id="results" class="visually-hidden">No results</h2>
${problemSummary(problems, (name) => TYPED_FIELDS.includes(name))}
<p><a href="/definitions">Show all definitions</a></p>`;
}

function renderResults(list: ResponseOf<typeof listDefinitions>["data"], page: Page): Html {
  const { url } = page;
  const { definitions, total, limit, offset } = list;
  const shown = definitions.length;
  return html`<h2 id="results">${countOf(total, "definition")}</h2>
${
  shown === 0
    ? renderEmpty(page)
    : html`<ul class="rows">${definitions.map((definition) => renderRow(definition, url))}</ul>`
}
${pager({ offset, limit, total, shown }, (to) => withQuery("/definitions", changed(url.searchParams, { offset: to })))}`;
}

/** Renders the text for an empty list. Without a search or filter, there are no definitions yet. */
function renderEmpty({ url, session }: Page): Html {
  if (url.search !== "")
    return emptyState(html`Nothing matches. <a href="/definitions">Show all definitions</a>`);
  return emptyState(
    html`No definitions yet.${session && html` <a href="/definitions/new">Create the first one</a>`}`,
  );
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
