/** The frame of an organization's pages: its name, the user's role, tabs, notices and errors. */
import { hasOrgRole } from "../../../shared/policy.ts";
import type { OrgRole } from "../../../shared/vocabulary.ts";
import { getOrganization } from "../../accounts/organizations/own_orgs.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { orgPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { problemSummary } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import { renderNotice } from "../notice.ts";
import type { Page, SignedInPage } from "../page.ts";
import { findOwnOrg } from "../page_session.ts";
import { badge, renderInstant, tabBar } from "../parts.ts";

/** Tabs by the last segment of their path, with the minimum role for which they are shown. The API enforces access. */
const TABS: readonly (readonly [path: string, label: string, role: OrgRole | null])[] = [
  ["", "Profile", null],
  ["members", "Members", "viewer"],
  ["usage", "Usage", "viewer"],
  ["projects", "Projects", "viewer"],
  ["audit", "Audit log", "admin"],
  ["webhooks", "Webhooks", "admin"],
  ["edit", "Edit profile", "admin"],
];

export type OwnOrg = ResponseOf<typeof getOrganization>["data"];

/** Loads an organization in which the user has at least this role. For other users, throws the API's error. */
export async function requireOrgWithRole(
  { call }: SignedInPage,
  { slug, role }: { slug: string; role: OrgRole },
): Promise<OwnOrg> {
  const { data: org } = await call(getOrganization, { params: { slug } });
  requireAllowed(hasOrgRole(org.role, role));
  return org;
}

interface OrgContent extends Pick<PageContent, "head" | "status"> {
  slug: string;
  /** The organization's name. If omitted, the name comes from the visitor's own organizations. */
  name?: string;
  /** The path of the current tab. */
  tab: string;
  /** The subject of the page, if several pages share the tab. */
  subject?: string;
  /** Texts of the notices, by name. */
  notices?: Readonly<Record<string, string>>;
  body: Content;
}

export function orgPage(page: Page, content: OrgContent): PageContent {
  const { slug, tab, subject, notices = {}, body, head, status } = content;
  const org = findOwnOrg(page, slug);
  const name = content.name ?? org?.name ?? slug;
  const tabs = TABS.filter(([, , role]) => role === null || (org && hasOrgRole(org.role, role).ok)).map(
    ([path, label]) => [orgPath(slug, ...(path ? [path] : [])), label, path === tab] as const,
  );
  const [, label] = TABS.find(([path]) => path === tab) ?? [];
  const about = [subject, tab === "" ? undefined : label, name].filter((part) => part !== undefined);
  return {
    title: about.join(" · "),
    section: "organization",
    org,
    head,
    status,
    main: html`<div class="title"><h1>${name}</h1>${org && badge(org.role)}</div>
${tabs.length > 1 && tabBar("Organization", tabs)}
${org?.deletesAt && renderEnd(slug, org.role, org.deletesAt)}
${renderNotice(page.notice, notices)}${problemSummary(page.problems)}
${body}`,
  };
}

/** Renders the date on which the organization will be deleted, with a link for owners to restore it. */
function renderEnd(slug: string, role: OrgRole, deletesAt: string): Html {
  return html`<p class="notice">This organization will be deleted on ${renderInstant(deletesAt)}. Until then it works as before. ${
    role === "owner" ? html`<a href="${orgPath(slug, "end")}">Restore it</a>` : "Any owner can restore it."
  }</p>`;
}
