/** /orgs/{slug}: the public profile of an organization and its definitions. */
import { getOrganizationProfile } from "../../accounts/organizations/profile.ts";
import { listDefinitions } from "../../definitions/list.ts";
import { orgPath, withQuery } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { listedPath, renderDraftLink } from "../definitions/listed_version.ts";
import { type Content, type Html, html, webUrl } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { findOwnOrg } from "../page_session.ts";
import { badge, emptyState, formatCount, pager, readOffset, recordTable, renderDay } from "../parts.ts";
import { orgPage } from "./org_page.ts";

const NOTICES = {
  joined: "You are now a member.",
  left: "You have left this organization.",
};

const PAGE_SIZE = 50;

type Profile = ResponseOf<typeof getOrganizationProfile>["data"];

export async function showProfile(page: Page, { slug }: { slug: string }): Promise<PageResult> {
  const { data: profile } = await page.call(getOrganizationProfile, { params: { slug } });
  // Members see all definitions of their organization.
  const isMember = findOwnOrg(page, slug) !== null;
  const query = {
    ...{ organization: slug, publishedFirst: true, sortBy: "name", sortOrder: "asc" },
    ...{ visibility: isMember ? null : "public", limit: PAGE_SIZE, offset: readOffset(page.url) },
  };
  const title = isMember ? "Definitions" : "Public definitions";
  const { data: definitions } = await page.call(listDefinitions, { query });
  return orgPage(page, {
    slug,
    name: profile.name,
    tab: "",
    head: html`<meta name="description" content="${profile.description ?? `${profile.name} on ulr`}">`,
    notices: NOTICES,
    body: html`${renderProfile(profile)}
<section class="stack" aria-labelledby="definitions-title">
  <h2 id="definitions-title">${title}</h2>
  ${renderDefinitions(definitions, { path: orgPath(slug), title })}
</section>`,
  });
}

/** Renders the public facts. The description and website are untrusted input. */
function renderProfile(profile: Profile): Html {
  const { slug, description, websiteUrl, isPersonal, createdAt, publicDefinitions, totalExecutions } =
    profile;
  const website = webUrl(websiteUrl);
  return html`<section class="stack" aria-label="Profile">
  <p class="quiet">@${slug}${isPersonal && " · personal organization"} · since ${renderDay(createdAt)}</p>
  ${description !== null && html`<p class="lead pre-line">${description}</p>`}
  ${website !== null && html`<p><a href="${website}" rel="nofollow noopener noreferrer">${website}</a></p>`}
  <dl class="figures">
    <div><dt>Public definitions</dt><dd>${formatCount(publicDefinitions)}</dd></div>
    <div><dt>Executions of these</dt><dd>${formatCount(totalExecutions)}</dd></div>
  </dl>
</section>`;
}

/** Renders one page of definitions. `path` is the path of the page. */
function renderDefinitions(
  { definitions, total, offset }: ResponseOf<typeof listDefinitions>["data"],
  { path, title }: { path: string; title: string },
): Html {
  if (total === 0) return emptyState(`No ${title.toLowerCase()}.`);
  const rows = definitions.map((definition): Content[] => [
    html`<a href="${listedPath(definition)}">${definition.displayName}</a> <small>${definition.name}</small>${definition.visibility !== "public" && html` ${badge(definition.visibility)}`}
    <p class="quiet row-text">${definition.description}</p>`,
    definition.type,
    html`${definition.version}${definition.status !== "published" && html` ${badge(definition.status)}`} ${renderDraftLink(definition)}`,
    definition.executionCount,
  ]);
  const list = { offset, limit: PAGE_SIZE, total, shown: rows.length };
  return html`${recordTable(title, ["Definition", "Type", "Version", "Executions"], rows)}
${pager(list, (to) => withQuery(path, { offset: to }))}`;
}
