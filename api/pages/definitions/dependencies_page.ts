/** …/dependencies: what a definition needs to run, as a graph and as a list. */
import { getDependencies } from "../../definitions/dependencies/dependencies.ts";
import { definitionPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import type { Page } from "../page.ts";
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
      ? html`<p class="empty">It needs no other definition.</p>`
      : html`<p>It needs ${count(totalCount, "definition")} on ${count(maxDepth, "level")}. <a href="#list">Show as list</a> · <a href="/api/v1${definitionPath(address, "dependencies")}">JSON</a></p>`;
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
  const rows = flat.slice(0, MAX_ROWS).map(
    (
      node,
    ) => html`<tr><th scope="row"><a href="${definitionPath(node)}">@${node.organization}/${node.name}</a></th>
<td><span class="badge kind ${node.type}">${node.type}</span></td><td>${node.version}</td><td>${node.context}</td><td class="number">${node.depth}</td></tr>
`,
  );
  return html`<section aria-labelledby="list"><h2 id="list">List</h2>
<div class="table-box" tabindex="0" role="group" aria-label="Dependencies"><table class="data-table">
<thead><tr><th scope="col">Definition</th><th scope="col">Type</th><th scope="col">Version</th><th scope="col">Named in</th><th scope="col" class="number">Level</th></tr></thead>
<tbody>${rows}</tbody></table></div>
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

function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
