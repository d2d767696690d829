/** /orgs/{slug}: the public profile of an organization, and what its members and admins see. */
import { Elysia } from "elysia";
import { access } from "../../http/access.ts";
import { PAGE_ROUTE, type Page, type PageResult, type Pages, type SignedInPage, seeOther } from "../page.ts";
import { showAudit } from "./audit.ts";
import { saveEdit, showEdit } from "./edit.ts";
import { showMembers } from "./members.ts";
import { findOwnOrg, orgPath } from "./org_page.ts";
import { showProfile } from "./profile.ts";
import { showProjects } from "./projects.ts";
import { showUsage } from "./usage.ts";
import { changeWebhook, confirmDelete, deleteWebhook, showWebhook, type WebhookAddress } from "./webhook.ts";
import { createWebhook, showWebhooks } from "./webhooks.ts";

interface OrgRequest {
  request: Request;
  params: { slug: string };
}

interface WebhookRequest {
  request: Request;
  params: WebhookAddress;
}

export function organizationRoutes({ show, showSignedIn }: Pages) {
  const everyone = (view: (page: Page, slug: string) => Promise<PageResult>) => {
    return ({ request, params: { slug } }: OrgRequest) =>
      show(request, (page) => followSwitcher(page, slug) ?? view(page, slug));
  };
  const signedIn = (view: (page: SignedInPage, slug: string) => Promise<PageResult>) => {
    return ({ request, params: { slug } }: OrgRequest) =>
      showSignedIn(request, (page) => followSwitcher(page, slug) ?? view(page, slug));
  };
  const webhook = (view: (page: SignedInPage, address: WebhookAddress) => Promise<PageResult>) => {
    return ({ request, params }: WebhookRequest) =>
      showSignedIn(request, (page) => followSwitcher(page, params.slug) ?? view(page, params));
  };
  return new Elysia({ prefix: "/orgs/:slug" })
    .use(access)
    .get("/", everyone(showProfile), PAGE_ROUTE)
    .get("/members", signedIn(showMembers), PAGE_ROUTE)
    .get("/usage", signedIn(showUsage), PAGE_ROUTE)
    .get("/projects", signedIn(showProjects), PAGE_ROUTE)
    .get("/audit", signedIn(showAudit), PAGE_ROUTE)
    .get("/webhooks", signedIn(showWebhooks), PAGE_ROUTE)
    .post("/webhooks", signedIn(createWebhook), PAGE_ROUTE)
    .get("/edit", signedIn(showEdit), PAGE_ROUTE)
    .post("/edit", signedIn(saveEdit), PAGE_ROUTE)
    .get("/webhooks/:id", webhook(showWebhook), PAGE_ROUTE)
    .post("/webhooks/:id", webhook(changeWebhook), PAGE_ROUTE)
    .get("/webhooks/:id/delete", webhook(confirmDelete), PAGE_ROUTE)
    .post("/webhooks/:id/delete", webhook(deleteWebhook), PAGE_ROUTE);
}

/** Leads to the same page of the organization that was chosen in the switcher; null if it is this one. */
function followSwitcher(page: Page, slug: string): Response | null {
  const chosen = page.url.searchParams.get("org");
  if (chosen === null || chosen === slug || page.request.method !== "GET" || !findOwnOrg(page, chosen))
    return null;
  const [, , , tab] = page.url.pathname.split("/");
  return seeOther(orgPath(chosen, tab ? `/${tab}` : ""));
}
