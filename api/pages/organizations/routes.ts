/** /orgs/{slug}: an organization's public profile, and the pages for its members and admins. */
import type { PageRoute } from "../page.ts";
import { showAudit } from "./audit.ts";
import { changeDeletion, showDeletion } from "./deletion.ts";
import { saveEdit, showEdit } from "./edit.ts";
import { changeMember, confirmRemoval, removeMemberOf, showMember } from "./member.ts";
import { changeInvitations, showMembers } from "./members.ts";
import { showProfile } from "./profile.ts";
import { changeProject, changeProjects, showProject, showProjects } from "./projects.ts";
import { showUsage } from "./usage.ts";
import { changeWebhook, confirmDelete, deleteWebhook, showWebhook } from "./webhook.ts";
import { createWebhook, showWebhooks } from "./webhooks.ts";

export const ORGANIZATION_PAGES: readonly PageRoute[] = [
  ["GET", "/orgs/:slug", "all", showProfile],
  ["FORM", "/orgs/:slug/members", "signedIn", [showMembers, changeInvitations]],
  ["FORM", "/orgs/:slug/members/:userId", "signedIn", [showMember, changeMember]],
  ["FORM", "/orgs/:slug/members/:userId/remove", "signedIn", [confirmRemoval, removeMemberOf]],
  ["GET", "/orgs/:slug/usage", "signedIn", showUsage],
  ["FORM", "/orgs/:slug/projects", "signedIn", [showProjects, changeProjects]],
  ["FORM", "/orgs/:slug/projects/:project", "signedIn", [showProject, changeProject]],
  ["GET", "/orgs/:slug/audit", "signedIn", showAudit],
  ["FORM", "/orgs/:slug/webhooks", "signedIn", [showWebhooks, createWebhook]],
  ["FORM", "/orgs/:slug/webhooks/:id", "signedIn", [showWebhook, changeWebhook]],
  ["GET", "/orgs/:slug/webhooks/:id/delete", "signedIn", confirmDelete],
  ["POST", "/orgs/:slug/webhooks/:id/delete", "signedIn", deleteWebhook],
  ["FORM", "/orgs/:slug/edit", "signedIn", [showEdit, saveEdit]],
  ["FORM", "/orgs/:slug/end", "signedIn", [showDeletion, changeDeletion]],
];
