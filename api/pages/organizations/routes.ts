/** /orgs/{slug}: the public profile of an organization, and what its members and admins see. */
import type { PageRoute } from "../page.ts";
import { showAudit } from "./audit.ts";
import { saveEdit, showEdit } from "./edit.ts";
import { changeEnd, showEnd } from "./end.ts";
import { changeMember, confirmRemoval, removeMemberOf, showMember } from "./member.ts";
import { changeInvitations, showMembers } from "./members.ts";
import { showProfile } from "./profile.ts";
import { changeProject, changeProjects, showProject, showProjects } from "./projects.ts";
import { showUsage } from "./usage.ts";
import { changeWebhook, confirmDelete, deleteWebhook, showWebhook } from "./webhook.ts";
import { createWebhook, showWebhooks } from "./webhooks.ts";

export const ORGANIZATION_PAGES: readonly PageRoute[] = [
  ["GET", "/orgs/:slug", "all", showProfile],
  ["GET", "/orgs/:slug/members", "signedIn", showMembers],
  ["POST", "/orgs/:slug/members", "signedIn", changeInvitations],
  ["GET", "/orgs/:slug/members/:userId", "signedIn", showMember],
  ["POST", "/orgs/:slug/members/:userId", "signedIn", changeMember],
  ["GET", "/orgs/:slug/members/:userId/remove", "signedIn", confirmRemoval],
  ["POST", "/orgs/:slug/members/:userId/remove", "signedIn", removeMemberOf],
  ["GET", "/orgs/:slug/usage", "signedIn", showUsage],
  ["GET", "/orgs/:slug/projects", "signedIn", showProjects],
  ["GET", "/orgs/:slug/audit", "signedIn", showAudit],
  ["GET", "/orgs/:slug/webhooks", "signedIn", showWebhooks],
  ["POST", "/orgs/:slug/webhooks", "signedIn", createWebhook],
  ["GET", "/orgs/:slug/edit", "signedIn", showEdit],
  ["POST", "/orgs/:slug/edit", "signedIn", saveEdit],
  ["GET", "/orgs/:slug/end", "signedIn", showEnd],
  ["POST", "/orgs/:slug/end", "signedIn", changeEnd],
  ["POST", "/orgs/:slug/projects", "signedIn", changeProjects],
  ["GET", "/orgs/:slug/projects/:project", "signedIn", showProject],
  ["POST", "/orgs/:slug/projects/:project", "signedIn", changeProject],
  ["GET", "/orgs/:slug/webhooks/:id", "signedIn", showWebhook],
  ["POST", "/orgs/:slug/webhooks/:id", "signedIn", changeWebhook],
  ["GET", "/orgs/:slug/webhooks/:id/delete", "signedIn", confirmDelete],
  ["POST", "/orgs/:slug/webhooks/:id/delete", "signedIn", deleteWebhook],
];
