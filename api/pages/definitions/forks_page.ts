/** …/forks: the source and the forks of a definition. */
import type { NamedVersion } from "../../../sql/definitions/fields.ts";
import { getLineage, listForks } from "../../definitions/forks/forks.ts";
import { definitionPath, type LinkedDefinition } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { type Content, type Html, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { countOf, emptyState, recordTable, renderDay } from "../parts.ts";
import { frameTab, loadDefinition } from "./definition_frame.ts";
import { apiParams, fullName, type PageAddress } from "./page_address.ts";

const MAX_ROWS = 100;

/** Slugs of organizations by id. */
type Slugs = ReadonlyMap<string, string>;

export async function showForks(page: Page, address: PageAddress): Promise<PageResult> {
  const [definition, lineage, forks] = await Promise.all([
    loadDefinition(page, address),
    page.call(getLineage, { params: apiParams(address) }),
    page.call(listForks, { params: apiParams(address) }),
  ]);
  const sources = lineage.data.chain.flatMap(({ source }) => source ?? []);
  const shown = forks.data.forks.slice(0, MAX_ROWS).map((fork) => fork.definition);
  const slugs = await page.deps.listOrgSlugs([...sources, ...shown].map(({ orgId }) => orgId));
  return frameTab(definition, {
    tab: "forks",
    body: html`${renderLineage(lineage.data, slugs)}
${renderForks(forks.data, slugs)}`,
  });
}

/**
 * Adds the organization's slug, because the API returns only the id. The slug is always found, because organizations are never
 * removed from the database.
 */
function locate(version: NamedVersion, slugs: Slugs): LinkedDefinition {
  return { ...version, organization: slugs.get(version.orgId) ?? "" };
}

function renderLineage({ chain }: ResponseOf<typeof getLineage>["data"], slugs: Slugs): Content {
  if (chain.length === 0) return null;
  const items = chain.map(({ source, sourceType, sourceName, sourceVersion }) => {
    if (source) {
      const address = locate(source, slugs);
      return html`<li><a href="${definitionPath(address)}">${fullName(address)}</a></li>`;
    }
    if (sourceName !== null)
      return html`<li>${sourceName}@${sourceVersion} <span class="quiet">no longer available</span></li>`;
    return html`<li>${sourceType} <span class="quiet">that you cannot see</span></li>`;
  });
  return html`<section aria-labelledby="lineage"><h2 id="lineage">Forked from</h2><ol>${items}</ol></section>`;
}

function renderForks({ forks, totalForks }: ResponseOf<typeof listForks>["data"], slugs: Slugs): Html {
  if (totalForks === 0) return emptyState("It has no forks.");
  const rows = forks.slice(0, MAX_ROWS).map(({ fork, definition }) => {
    const address = locate(definition, slugs);
    const link = html`<a href="${definitionPath(address)}">${definition.displayName}</a>`;
    return [link, fullName(address), renderDay(fork.forkedAt)];
  });
  const hidden = totalForks - rows.length;
  return html`<section aria-labelledby="forks"><h2 id="forks">${countOf(totalForks, "fork")}</h2>
${rows.length > 0 && recordTable("Forks", ["Fork", "Address", "Forked"], rows)}
${hidden > 0 && html`<p class="quiet">${hidden} ${hidden === 1 ? "is" : "are"} not shown: private, not published, or older.</p>`}</section>`;
}
