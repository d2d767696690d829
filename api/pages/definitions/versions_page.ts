/** …/versions: all versions of a definition. */
import { listVersions } from "../../definitions/versions.ts";
import { definitionPath } from "../addresses.ts";
import { html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import type { Page } from "../page.ts";
import { renderDay } from "../parts.ts";
import { frameTab, loadDefinition } from "./definition_frame.ts";
import { apiParams, type PageAddress, readOffset } from "./page_address.ts";

const PAGE_SIZE = 50;

/** Shows one page of versions, the highest first. */
export async function showVersions(page: Page, address: PageAddress): Promise<PageContent> {
  const line = { ...address, version: null };
  const offset = readOffset(page.url);
  const [definition, { data }] = await Promise.all([
    loadDefinition(page, address),
    page.call(listVersions, { params: apiParams(line), query: { limit: PAGE_SIZE, offset } }),
  ]);
  const { versions, total } = data;
  const rows = versions.map(
    ({ version, status, changeType, changeSummary, createdAt, hash }) => html`<tr>
<th scope="row"><a href="${definitionPath({ ...line, version })}">${version}</a></th>
<td><span class="badge" data-status="${status}">${status}</span></td><td>${changeType}</td>
<td>${changeSummary}</td><td>${renderDay(createdAt)}</td><td><code title="${hash}">${hash.slice("sha256:".length, 19)}</code></td>
</tr>
`,
  );
  const path = definitionPath(address, "versions");
  return frameTab(definition, {
    tab: "versions",
    body: html`<h2>${total} ${total === 1 ? "version" : "versions"}</h2>
<div class="table-box" tabindex="0" role="group" aria-label="Versions"><table class="data-table">
<thead><tr><th scope="col">Version</th><th scope="col">Status</th><th scope="col">Change</th><th scope="col">Summary</th><th scope="col">Created</th><th scope="col">Hash</th></tr></thead>
<tbody>${rows}</tbody></table></div>
<nav class="pager" aria-label="Pages">
${offset > 0 && html`<a class="button" rel="prev" href="${path}?offset=${Math.max(0, offset - PAGE_SIZE)}">Newer versions</a>`}
${offset + versions.length < total && versions.length > 0 && html`<a class="button" rel="next" href="${path}?offset=${offset + PAGE_SIZE}">Older versions</a>`}
</nav>`,
  });
}
