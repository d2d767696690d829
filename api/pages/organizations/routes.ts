/** /orgs/{slug}: the public profile of an organization, and what its members and admins see. */
import { type Page, type PageResult, type PageRoute, seeOther } from "../page.ts";
import { showAudit } from "./audit.ts";
import { saveEdit, showEdit } from "./edit.ts";
import { showMembers } from "./members.ts";
import { findOwnOrg, orgPath } from "./org_page.ts";
import { showProfile } from "./profile.ts";
import { showProjects } from "./projects.ts";
import { showUsage } from "./usage.ts";
import { changeWebhook, confirmDelete, deleteWebhook, showWebhook } from "./webhook.ts";
import { createWebhook, showWebhooks } from "./webhooks.ts";

export const ORGANIZATION_PAGES: readonly PageRoute[] = [
  ["GET", "/orgs/:slug", "all", orSwitch(showProfile)],
  ["GET", "/orgs/:slug/members", "signedIn", orSwitch(showMembers)],
  ["GET", "/orgs/:slug/usage", "signedIn", orSwitch(showUsage)],
  ["GET", "/orgs/:slug/projects", "signedIn", orSwitch(showProjects)],
  ["GET", "/orgs/:slug/audit", "signedIn", orSwitch(showAudit)],
  ["GET", "/orgs/:slug/webhooks", "signedIn", orSwitch(showWebhooks)],
  ["POST", "/orgs/:slug/webhooks", "signedIn", createWebhook],
  ["GET", "/orgs/:slug/edit", "signedIn", orSwitch(showEdit)],
  ["POST", "/orgs/:slug/edit", "signedIn", saveEdit],
  ["GET", "/orgs/:slug/webhooks/:id", "signedIn", orSwitch(showWebhook)],
  ["POST", "/orgs/:slug/webhooks/:id", "signedIn", changeWebhook],
  ["GET", "/orgs/:slug/webhooks/:id/delete", "signedIn", orSwitch(confirmDelete)],
  ["POST", "/orgs/:slug/webhooks/:id/delete", "signedIn", deleteWebhook],
];

/** Leads to the same page of the organization that was chosen in the switcher, if it is another one. */
function orSwitch<P extends Page, Params extends { slug: string }>(
  view: (page: P, params: Params) => Promise<PageResult>,
) {
  return (page: P, params: Params) => followSwitcher(page, params.slug) ?? view(page, params);
}

function followSwitcher(page: Page, slug: string): Response | null {
  const chosen = page.url.searchParams.get("org");
  if (chosen === null || chosen === slug || !findOwnOrg(page, chosen)) return null;
  const [, , , tab] = page.url.pathname.split("/");
  return seeOther(orgPath(chosen, tab ? `/${tab}` : ""));
}
