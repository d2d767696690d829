/** /orgs/{slug}: the public profile of an organization and its definitions. */

import type { OrgProfile } from "../../accounts/organizations/profile.ts";
import { getOrganizationProfile } from "../../accounts/organizations/profile.ts";
import { listDefinitions } from "../../definitions/list.ts";
import { orgPath } from "../addresses.ts";
import { type Html, html, webUrl } from "../html.ts";
import { renderDay } from "../instant.ts";
import { renderNotice } from "../notice.ts";
import type { Page, PageResult } from "../page.ts";
import { findOwnOrg } from "../page_session.ts";
import { PAGE_SIZE, renderDefinitions } from "./definition_list.ts";
import { orgPage } from "./org_page.ts";

const NOTICES = {
  joined: "You are now a member.",
  left: "You have left this organization.",
};

type Profile = (typeof OrgProfile.static)["data"];

export async function showProfile(page: Page, { slug }: { slug: string }): Promise<PageResult> {
  const { data: profile } = await page.call(getOrganizationProfile, { params: { slug } });
  const offset = page.url.searchParams.get("offset") ?? "0";
  // Members see all definitions of their organization.
  const isMember = findOwnOrg(page, slug) !== null;
  const query = {
    ...{ organization: slug, publishedFirst: true, sortBy: "name", sortOrder: "asc" },
    ...{ visibility: isMember ? null : "public", limit: PAGE_SIZE, offset },
  };
  const title = isMember ? "Definitions" : "Public definitions";
  const { data: definitions } = await page.call(listDefinitions, { query });
  return orgPage(page, {
    slug,
    name: profile.name,
    tab: "",
    head: html`<meta name="description" content="${profile.description ?? `${profile.name} on ulr`}">`,
    body: html`${renderNotice(page.notice, NOTICES)}${renderProfile(profile)}
<section class="stack" aria-labelledby="definitions-title">
  <h2 id="definitions-title">${title}</h2>
  ${renderDefinitions(definitions, { path: orgPath(slug), title })}
</section>`,
  });
}

/** Renders the public facts. The description and the website were written by strangers. */
function renderProfile(profile: Profile): Html {
  const { slug, description, websiteUrl, isPersonal, createdAt, publicDefinitions, totalExecutions } =
    profile;
  const website = webUrl(websiteUrl);
  return html`<section class="stack" aria-label="Profile">
  <p class="quiet">@${slug}${isPersonal && " · personal organization"} · since ${renderDay(createdAt)}</p>
  ${description !== null && html`<p class="lead pre-line">${description}</p>`}
  ${website !== null && html`<p><a href="${website}" rel="nofollow noopener noreferrer">${website}</a></p>`}
  <dl class="figures">
    <div><dt>Public definitions</dt><dd>${publicDefinitions.toLocaleString("en-US")}</dd></div>
    <div><dt>Executions of these</dt><dd>${totalExecutions.toLocaleString("en-US")}</dd></div>
  </dl>
</section>`;
}
