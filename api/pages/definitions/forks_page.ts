/** …/forks: the source of a definition, and what was made from it. */
import type { NamedVersion } from "../../../sql/definitions/fields.ts";
import { getLineage, listForks } from "../../definitions/forks/forks.ts";
import { getDefinition } from "../../definitions/read.ts";
import { definitionPath, organizationOf, pathOf } from "../addresses.ts";
import { nullIf, type ResponseOf } from "../api_client.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import type { Page } from "../page.ts";
import { countOf, dataTable, emptyState, renderDay } from "../parts.ts";
import { frameTab, loadDefinition } from "./definition_frame.ts";
import { apiParams, type PageAddress } from "./page_address.ts";

const MAX_ROWS = 100;
/** Organizations whose names are looked up at once. */
const LOOKUPS_AT_ONCE = 8;

/** Slugs of organizations by id. */
type Slugs = ReadonlyMap<string, string>;

type LineageJson = ResponseOf<typeof getLineage>["data"];

type ForksJson = ResponseOf<typeof listForks>["data"];

/** Shows lineage and forks. */
export async function showForks(page: Page, address: PageAddress): Promise<PageContent> {
  const [definition, lineage, forks] = await Promise.all([
    loadDefinition(page, address),
    page.call(getLineage, { params: apiParams(address) }),
    page.call(listForks, { params: apiParams(address) }),
  ]);
  const sources = lineage.data.chain.flatMap(({ source }) => source ?? []);
  const shown = forks.data.forks.slice(0, MAX_ROWS).map((fork) => fork.definition);
  const slugs = await findSlugs(page, [...sources, ...shown]);
  return frameTab(definition, {
    tab: "forks",
    body: html`${renderLineage(lineage.data, slugs)}
${renderForks(forks.data, slugs)}`,
  });
}

/** Asks one version of each organization for its slug: forks have the id only. */
async function findSlugs(page: Page, versions: readonly NamedVersion[]): Promise<Slugs> {
  const asked = [...new Map(versions.map((version) => [version.orgId, version])).values()].slice(0, MAX_ROWS);
  const slugs = new Map<string, string>();
  for (let from = 0; from < asked.length; from += LOOKUPS_AT_ONCE) {
    await Promise.all(
      asked.slice(from, from + LOOKUPS_AT_ONCE).map(async ({ type, id, orgId }) => {
        const slug = await findSlug(page, { type, name: id });
        if (slug !== null) slugs.set(orgId, slug);
      }),
    );
  }
  return slugs;
}

/** Null for a version that was deleted meanwhile. */
async function findSlug({ call }: Page, params: { type: string; name: string }): Promise<string | null> {
  const query = { includeYaml: false, includeRuntime: false };
  const found = await nullIf(["NOT_FOUND"], call(getDefinition, { params, query }));
  return found && organizationOf(found.data);
}

/** The page of a version; by its id, which redirects to its address, if the organization is unknown. */
function versionPath({ type, id, orgId, name, version }: NamedVersion, slugs: Slugs): string {
  const organization = slugs.get(orgId);
  return organization === undefined
    ? `/definitions${pathOf(type, id)}`
    : definitionPath({ type, organization, name, version });
}

function addressOf({ orgId, name, version }: NamedVersion, slugs: Slugs): string {
  const organization = slugs.get(orgId);
  return `${organization === undefined ? "" : `@${organization}/`}${name}@${version}`;
}

function renderLineage({ chain }: LineageJson, slugs: Slugs): Content {
  if (chain.length === 0) return null;
  const items = chain.map(({ source, sourceType, sourceName, sourceVersion }) => {
    if (source) return html`<li><a href="${versionPath(source, slugs)}">${addressOf(source, slugs)}</a></li>`;
    if (sourceName !== null)
      return html`<li>${sourceName}@${sourceVersion} <span class="quiet">no longer available</span></li>`;
    return html`<li>${sourceType} <span class="quiet">that you cannot see</span></li>`;
  });
  return html`<section aria-labelledby="lineage"><h2 id="lineage">Forked from</h2><ol>${items}</ol></section>`;
}

function renderForks({ forks, totalForks }: ForksJson, slugs: Slugs): Html {
  if (totalForks === 0) return emptyState("It has no forks.");
  const rows = forks.slice(0, MAX_ROWS).map(
    ({
      fork,
      definition,
    }) => html`<tr><th scope="row"><a href="${versionPath(definition, slugs)}">${definition.displayName}</a></th>
<td>${addressOf(definition, slugs)}</td><td>${renderDay(fork.forkedAt)}</td></tr>
`,
  );
  const hidden = totalForks - rows.length;
  return html`<section aria-labelledby="forks"><h2 id="forks">${countOf(totalForks, "fork")}</h2>
${rows.length > 0 && dataTable("Forks", ["Fork", "Address", "Forked"], rows)}
${hidden > 0 && html`<p class="quiet">${hidden} ${hidden === 1 ? "is" : "are"} not shown: private, not published, or older.</p>`}</section>`;
}
