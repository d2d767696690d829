/** …/dependents: what needs a definition. */
import { getDependents } from "../../definitions/dependencies/dependents.ts";
import { definitionPath } from "../addresses.ts";
import { html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import type { Page } from "../page.ts";
import { frameTab, loadDefinition } from "./definition_frame.ts";
import { apiParams, type PageAddress } from "./page_address.ts";

/** Further rows are in the API's response only. */
const MAX_ROWS = 300;

/** Shows the versions that depend directly on this one or, without a version, on any version of it. */
export async function showDependents(page: Page, address: PageAddress): Promise<PageContent> {
  const [definition, { data }] = await Promise.all([
    loadDefinition(page, address),
    page.call(getDependents, { params: apiParams(address) }),
  ]);
  const { dependents, totalCount } = data;
  const rows = dependents.slice(0, MAX_ROWS).map(
    (
      node,
    ) => html`<tr><th scope="row"><a href="${definitionPath(node)}">@${node.organization}/${node.name}</a></th>
<td><span class="badge kind ${node.type}">${node.type}</span></td><td>${node.version}</td><td>${node.context}</td><td><code>${node.range}</code></td></tr>
`,
  );
  const body =
    rows.length === 0
      ? html`<p class="empty">No definition that you can see uses it.</p>`
      : html`<h2>${totalCount === 1 ? "1 version uses" : `${totalCount.toLocaleString("en-US")} versions use`} it</h2>
<div class="table-box" tabindex="0" role="group" aria-label="Dependents"><table class="data-table">
<thead><tr><th scope="col">Definition</th><th scope="col">Type</th><th scope="col">Version</th><th scope="col">Named in</th><th scope="col">Range</th></tr></thead>
<tbody>${rows}</tbody></table></div>
${totalCount > rows.length && html`<p class="quiet">The first ${rows.length}. <a href="/api/v1${definitionPath(address, "dependents")}">JSON</a></p>`}`;
  return frameTab(definition, { tab: "dependents", body });
}
