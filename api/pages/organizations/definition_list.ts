/** The definitions on the page of an organization. */
import { definitionPath, organizationOf } from "../definitions/definition_links.ts";
import { type Content, type Html, html } from "../html.ts";

export const PAGE_SIZE = 50;

/** As the list of the API has it. */
export interface ListedDefinition {
  type: string;
  name: string;
  version: string;
  status: string;
  displayName: string;
  description: string;
  namespace: string;
  executionCount: number;
}

export interface DefinitionPage {
  definitions: readonly ListedDefinition[];
  total: number;
  offset: number;
  hasMore: boolean;
}

/** Returns the address of a definition's page. A name without a version is the highest published one. */
export function listedPath(definition: ListedDefinition): string {
  const { type, name, status, version } = definition;
  const organization = organizationOf(definition);
  return definitionPath({ organization, type, name, version: status === "draft" ? version : null });
}

/** Renders one page of them. `path` is the page's own. */
export function renderDefinitions(
  { definitions, total, offset, hasMore }: DefinitionPage,
  path: string,
): Html {
  if (total === 0) return html`<p class="empty">No public definitions.</p>`;
  const rows = definitions.map(
    (definition) => html`<tr>
  <th scope="row"><a href="${listedPath(definition)}">${definition.displayName}</a> <small>${definition.name}</small>
    <p class="quiet">${definition.description}</p></th>
  <td>${definition.type}</td>
  <td>${definition.version}${definition.status !== "published" && html` <span class="badge">${definition.status}</span>`}</td>
  <td class="number">${definition.executionCount.toLocaleString("en-US")}</td>
</tr>
`,
  );
  return html`<div class="table-box" tabindex="0" role="region" aria-label="Public definitions"><table class="data-table">
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
