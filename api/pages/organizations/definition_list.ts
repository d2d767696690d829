/** The definitions on the page of an organization. */
import type { ListedDefinition } from "../../definitions/schemas.ts";
import { listedPath, renderDraftLink } from "../definitions/listed_version.ts";
import { type Content, type Html, html } from "../html.ts";

export const PAGE_SIZE = 50;

export interface DefinitionPage {
  definitions: readonly ListedDefinition[];
  total: number;
  offset: number;
  hasMore: boolean;
}

/** Renders one page of them under their title. `path` is the page's own. */
export function renderDefinitions(
  { definitions, total, offset, hasMore }: DefinitionPage,
  { path, title }: { path: string; title: string },
): Html {
  if (total === 0) return html`<p class="empty">No ${title.toLowerCase()}.</p>`;
  const rows = definitions.map(
    (definition) => html`<tr>
  <th scope="row"><a href="${listedPath(definition)}">${definition.displayName}</a> <small>${definition.name}</small>${definition.visibility !== "public" && html` <span class="badge">${definition.visibility}</span>`}
    <p class="quiet">${definition.description}</p></th>
  <td>${definition.type}</td>
  <td>${definition.version}${definition.status !== "published" && html` <span class="badge">${definition.status}</span>`} ${renderDraftLink(definition)}</td>
  <td class="number">${definition.executionCount.toLocaleString("en-US")}</td>
</tr>
`,
  );
  return html`<div class="table-box" tabindex="0" role="group" aria-label="${title}"><table class="data-table">
<thead><tr><th scope="col">Definition</th><th scope="col">Type</th><th scope="col">Version</th><th scope="col" class="number">Executions</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
${renderPager({ total, offset, hasMore, shown: definitions.length }, path)}`;
}

function renderPager(
  { total, offset, hasMore, shown }: Pick<DefinitionPage, "total" | "offset" | "hasMore"> & { shown: number },
  path: string,
): Content {
  if (offset === 0 && !hasMore) return null;
  const before = Math.max(0, offset - PAGE_SIZE);
  return html`<nav class="pager" aria-label="Pages">
  <span class="quiet">${offset + 1} to ${offset + shown} of ${total}</span>
  <span class="actions">${offset > 0 && html`<a class="button" href="${path}?offset=${before}" rel="prev">Previous</a>`}
  ${hasMore && html`<a class="button" href="${path}?offset=${offset + PAGE_SIZE}" rel="next">Next</a>`}</span>
</nav>`;
}
