/** …/dependencies and …/dependents: what a definition needs to run, as a graph and as a list, and what needs it. */
import { getDependencies } from "../../definitions/dependencies.ts";
import { getDependents } from "../../definitions/dependents.ts";
import { definitionPath, type LinkedDefinition } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import type { Page } from "../page.ts";
import { badge, countOf, dataTable, emptyState, numberHeading } from "../parts.ts";
import { frameTab, loadDefinition } from "./definition_frame.ts";
import { layoutGraph } from "./dependency_graph.ts";
import { drawGraph } from "./dependency_svg.ts";
import { apiParams, type PageAddress } from "./page_address.ts";

/** Further rows are in the API's response only. */
const MAX_ROWS = 300;

type DependenciesJson = ResponseOf<typeof getDependencies>["data"];

/** Shows the whole tree, as far as the visitor can see it. */
export async function showDependencies(page: Page, address: PageAddress): Promise<PageContent> {
  const [definition, { data }] = await Promise.all([
    loadDefinition(page, address),
    page.call(getDependencies, { params: apiParams(address) }),
  ]);
  const { totalCount, maxDepth } = data;
  const summary =
    totalCount === 0
      ? emptyState("It needs no other definition.")
      : html`<p>It needs ${countOf(totalCount, "definition")} on ${countOf(maxDepth, "level")}. <a href="#list">Show as list</a> · <a href="/api/v1${definitionPath(address, "dependencies")}">JSON</a></p>`;
  return frameTab(definition, {
    tab: "dependencies",
    body: html`${summary}
${data.truncated && html`<p class="notice">The graph is larger than what is shown: the furthest dependencies are left out.</p>`}
${data.graph.dependencies.length > 0 && renderGraph(data)}
${renderList(data)}
${renderUnresolved(data.unresolved)}`,
  });
}

function renderGraph({ graph }: DependenciesJson): Html {
  return html`<div class="card scroll" tabindex="0" role="group" aria-label="Graph">${drawGraph(layoutGraph(graph))}</div>`;
}

function renderList({ flat }: DependenciesJson): Content {
  if (flat.length === 0) return null;
  const rows = flat
    .slice(0, MAX_ROWS)
    .map((node) => renderRow(node, html`<td class="number">${node.depth}</td>`));
  return html`<section aria-labelledby="list"><h2 id="list">List</h2>
${dataTable("Dependencies", [...COLUMNS, numberHeading("Level")], rows)}
${flat.length > MAX_ROWS && html`<p class="quiet">The ${MAX_ROWS} nearest of ${flat.length}.</p>`}</section>`;
}

function renderUnresolved(unresolved: DependenciesJson["unresolved"]): Content {
  if (unresolved.length === 0) return null;
  const items = unresolved
    .slice(0, MAX_ROWS)
    .map(
      ({ type, name, range, context }) =>
        html`<li><code>${name}@${range}</code> <span class="quiet">${type} · ${context}</span></li>`,
    );
  const hidden = unresolved.length - MAX_ROWS;
  return html`<section aria-labelledby="unresolved"><h2 id="unresolved">Not found</h2>
<p>References that resolve to nothing you can see.</p><ul>${items}</ul>${hidden > 0 && html`<p class="quiet">and ${hidden} more</p>`}</section>`;
}

/** Shows the versions that depend directly on this one or, without a version, on any version of it. */
export async function showDependents(page: Page, address: PageAddress): Promise<PageContent> {
  const [definition, { data }] = await Promise.all([
    loadDefinition(page, address),
    page.call(getDependents, { params: apiParams(address) }),
  ]);
  const { dependents, totalCount } = data;
  const rows = dependents
    .slice(0, MAX_ROWS)
    .map((node) => renderRow(node, html`<td><code>${node.range}</code></td>`));
  const body =
    rows.length === 0
      ? emptyState("No definition that you can see uses it.")
      : html`<h2>${countOf(totalCount, "version")} ${totalCount === 1 ? "uses" : "use"} it</h2>
${dataTable("Dependents", [...COLUMNS, "Range"], rows)}
${totalCount > rows.length && html`<p class="quiet">The first ${rows.length}. <a href="/api/v1${definitionPath(address, "dependents")}">JSON</a></p>`}`;
  return frameTab(definition, { tab: "dependents", body });
}

const COLUMNS = ["Definition", "Type", "Version", "Named in"];

/** Renders the definition at the other end of a dependency. `rest` is the last cell. */
function renderRow(node: LinkedDefinition & { context: string }, rest: Html): Html {
  return html`<tr><th scope="row"><a href="${definitionPath(node)}">@${node.organization}/${node.name}</a></th>
<td>${badge(node.type, `kind ${node.type}`)}</td><td>${node.version}</td><td>${node.context}</td>${rest}</tr>
`;
}
