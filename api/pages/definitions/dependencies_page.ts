/** …/dependencies and …/dependents: a definition's dependencies as a graph and a list, and the definitions that depend on it. */
import { getDependencies, getDependents } from "../../definitions/dependencies.ts";
import { definitionPath, type LinkedDefinition } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { type Content, type Html, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { badge, countOf, emptyState, recordTable } from "../parts.ts";
import { frameTab, loadDefinition } from "./definition_frame.ts";
import { type GraphBox, type GraphLayout, layoutGraph } from "./dependency_graph.ts";
import { apiParams, type PageAddress } from "./page_address.ts";

/** The maximum number of entries per list. The API's response has all of them. */
const MAX_ROWS = 300;

type DependenciesJson = ResponseOf<typeof getDependencies>["data"];

/** Shows the dependency tree, limited to the definitions that the visitor can see. */
export async function showDependencies(page: Page, address: PageAddress): Promise<PageResult> {
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
${data.graph.dependencies.length > 0 && html`<div class="card scroll" tabindex="0" role="group" aria-label="Graph">${drawGraph(layoutGraph(data.graph))}</div>`}
${renderList(data)}
${renderUnresolved(data.unresolved)}`,
  });
}

function renderList({ flat }: DependenciesJson): Content {
  if (flat.length === 0) return null;
  const rows = flat.slice(0, MAX_ROWS).map((node) => renderRow(node, node.depth));
  return html`<section aria-labelledby="list"><h2 id="list">List</h2>
${recordTable("Dependencies", [...COLUMNS, "Level"], rows)}
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

/** Shows the direct dependents of a version or, if the address has no version, of all versions. */
export async function showDependents(page: Page, address: PageAddress): Promise<PageResult> {
  const [definition, { data }] = await Promise.all([
    loadDefinition(page, address),
    page.call(getDependents, { params: apiParams(address) }),
  ]);
  const { dependents, totalCount } = data;
  const rows = dependents.slice(0, MAX_ROWS).map((node) => renderRow(node, html`<code>${node.range}</code>`));
  const body =
    rows.length === 0
      ? emptyState("No definition that you can see uses it.")
      : html`<section aria-labelledby="dependents"><h2 id="dependents">${countOf(totalCount, "version")} ${totalCount === 1 ? "uses" : "use"} it</h2>
${recordTable("Dependents", [...COLUMNS, "Range"], rows)}
${totalCount > rows.length && html`<p class="quiet">The first ${rows.length}. <a href="/api/v1${definitionPath(address, "dependents")}">JSON</a></p>`}</section>`;
  return frameTab(definition, { tab: "dependents", body });
}

const COLUMNS = ["Definition", "Type", "Version", "Named in"];

/** Renders the row of a dependency or dependent. `last` is the content of the last cell. */
function renderRow(node: LinkedDefinition & { context: string }, last: Content): Content[] {
  const { type, organization, name, version, context } = node;
  const link = html`<a href="${definitionPath(node)}">@${organization}/${name}</a>`;
  return [link, badge(type, `kind ${type}`), version, context, last];
}

/** Sizes in pixels at a font size of 16 pixels. The graph scales with the font size of the page. */
const BOX = { width: 230, height: 42, columnGap: 36, rowGap: 12, margin: 8 } as const;
const MAX_TITLE = 26;
const MAX_NOTE = 38;

/** Draws the graph. Assistive technology skips the edges but not the links, because the list below has the same content. */
export function drawGraph({ boxes, columns, rows }: GraphLayout): Html {
  const width = columns * (BOX.width + BOX.columnGap) - BOX.columnGap + 2 * BOX.margin;
  const height = rows * (BOX.height + BOX.rowGap) - BOX.rowGap + 2 * BOX.margin;
  const edges = boxes.map((box) => box.parent && drawEdge(box.parent, box));
  return html`<svg class="graph" width="${width / 16}rem" height="${height / 16}rem" viewBox="0 0 ${width} ${height}" role="group" aria-label="Dependency graph">
<g class="edges" aria-hidden="true">${edges}</g>
${boxes.map(drawBox)}
</svg>`;
}

function leftOf({ column }: GraphBox): number {
  return BOX.margin + column * (BOX.width + BOX.columnGap);
}

function topOf({ row }: GraphBox): number {
  return BOX.margin + row * (BOX.height + BOX.rowGap);
}

function drawEdge(from: GraphBox, to: GraphBox): Html {
  const [x1, x2] = [leftOf(from) + BOX.width, leftOf(to)];
  const [y1, y2] = [topOf(from) + BOX.height / 2, topOf(to) + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return html`<path d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}"/>`;
}

function drawBox(box: GraphBox): Html {
  const { node } = box;
  const { type, name, version, organization } = node;
  const context = node.context ? [node.context] : [];
  const note = [type, version, ...context].join(" · ");
  const rest = [
    ...(box.isRepeated ? ["its dependencies are shown at another place"] : []),
    ...(box.hidden > 0 ? [`${box.hidden} more not shown`] : []),
  ];
  const title = [`${type} @${organization}/${name}@${version}`, ...context, ...rest];
  return html`<a href="${definitionPath(node)}" class="node ${type}"${rest.length > 0 && html` data-cut`}><title>${title.join(" · ")}</title>
<rect x="${leftOf(box)}" y="${topOf(box)}" width="${BOX.width}" height="${BOX.height}" rx="6"/>
<rect class="kind" x="${leftOf(box)}" y="${topOf(box)}" width="5" height="${BOX.height}" rx="2"/>
<text x="${leftOf(box) + 14}" y="${topOf(box) + 18}">${shorten(name, MAX_TITLE)}</text>
<text class="note" x="${leftOf(box) + 14}" y="${topOf(box) + 34}">${shorten(note, MAX_NOTE)}</text>${
    rest.length > 0 &&
    html`
<text class="cut" x="${leftOf(box) + BOX.width - 8}" y="${topOf(box) + 18}">${box.hidden > 0 ? `+${box.hidden}` : "…"}</text>`
  }</a>`;
}

function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
