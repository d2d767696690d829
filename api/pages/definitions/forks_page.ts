/** …/forks: the source of a definition, and what was made from it. */
import type { NamedVersion } from "../../../sql/definitions/fields.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import type { Page } from "../page.ts";
import { frameTab, loadDefinition, renderDay } from "./definition_frame.ts";
import { definitionApiPath } from "./definition_links.ts";
import type { PageAddress } from "./page_address.ts";

const MAX_ROWS = 200;

interface LineageJson {
  chain: readonly {
    sourceType: string;
    sourceName: string | null;
    sourceVersion: string | null;
    source: NamedVersion | null;
  }[];
}

interface ForksJson {
  forks: readonly { fork: { forkedAt: string }; definition: NamedVersion & { displayName: string } }[];
  totalForks: number;
}

/** Shows lineage and forks. */
export async function showForks(page: Page, address: PageAddress): Promise<PageContent> {
  const [definition, lineage, forks] = await Promise.all([
    loadDefinition(page, address),
    page.api<{ data: LineageJson }>(definitionApiPath(address, "/lineage")),
    page.api<{ data: ForksJson }>(definitionApiPath(address, "/forks")),
  ]);
  return frameTab(definition, {
    tab: "forks",
    body: html`${renderLineage(lineage.data)}
${renderForks(forks.data)}`,
  });
}

/** The page of a version by its id, which redirects to its address. */
function versionPath({ type, id }: NamedVersion): string {
  return `/definitions/${type}/${id}`;
}

function renderLineage({ chain }: LineageJson): Content {
  if (chain.length === 0) return null;
  const items = chain.map(({ source, sourceType, sourceName, sourceVersion }) => {
    if (source) return html`<li><a href="${versionPath(source)}">${source.name}@${source.version}</a></li>`;
    if (sourceName !== null)
      return html`<li>${sourceName}@${sourceVersion} <span class="quiet">no longer available</span></li>`;
    return html`<li>${sourceType} <span class="quiet">that you cannot see</span></li>`;
  });
  return html`<section aria-labelledby="lineage"><h2 id="lineage">Forked from</h2><ol>${items}</ol></section>`;
}

function renderForks({ forks, totalForks }: ForksJson): Html {
  if (totalForks === 0) return html`<p class="empty">It has no forks.</p>`;
  const rows = forks.slice(0, MAX_ROWS).map(
    ({
      fork,
      definition,
    }) => html`<tr><th scope="row"><a href="${versionPath(definition)}">${definition.displayName}</a></th>
<td>${definition.name}</td><td>${renderDay(fork.forkedAt)}</td></tr>
`,
  );
  const hidden = totalForks - rows.length;
  return html`<section aria-labelledby="forks"><h2 id="forks">${totalForks === 1 ? "1 fork" : `${totalForks.toLocaleString("en-US")} forks`}</h2>
${
  rows.length > 0 &&
  html`<div class="table-box" tabindex="0" role="region" aria-label="Forks"><table class="data-table">
<thead><tr><th scope="col">Fork</th><th scope="col">Name</th><th scope="col">Forked</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}
${hidden > 0 && html`<p class="quiet">${hidden} ${hidden === 1 ? "is" : "are"} not shown: private, not published, or older.</p>`}</section>`;
}
