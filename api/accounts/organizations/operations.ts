/** The operations of organizations. */
import type { AnyOperation } from "../../http/operation.ts";
import { listAuditEntries } from "./audit.ts";
import { createOrganization } from "./create.ts";
import { deleteOrganization, restoreOrganization } from "./delete.ts";
import {
  createProject,
  deleteProject,
  listDeletedProjects,
  restoreProject,
  updateProject,
} from "./manage_projects.ts";
import { getOrganization, listOrganizationMembers, listOrganizations } from "./own_orgs.ts";
import { getOrganizationProfile } from "./profile.ts";
import { listOrganizationProjects } from "./projects.ts";
import { updateOrganization } from "./update.ts";
import { getOrganizationUsage } from "./usage.ts";

export const ORGANIZATION_OPERATIONS: readonly AnyOperation[] = [
  listOrganizations,
  getOrganization,
  listOrganizationMembers,
  listOrganizationProjects,
  getOrganizationUsage,
  listAuditEntries,
  getOrganizationProfile,
  updateOrganization,
  createOrganization,
  deleteOrganization,
  restoreOrganization,
  createProject,
  listDeletedProjects,
  updateProject,
  deleteProject,
  restoreProject,
];
