/** Creates, renames, deletes and restores projects, for owners, admins and `admin project …`. */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { slugCandidates, toSlug } from "../../../shared/slugs.ts";
import { type AuditActor, insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import { lockOrg, type OrgRow } from "../../../sql/accounts/orgs.ts";
import {
  countProjects,
  insertProject,
  listProjectSlugs,
  listProjectsNamed,
  lockProject,
  type ProjectRow,
  releaseProjectNames,
  updateProjectDeleted,
  updateProjectNames,
} from "../../../sql/accounts/projects.ts";
import { type Sql, violates } from "../../../sql/connection/pool.ts";
import { requireActorRole } from "../require_own_org.ts";

/** Projects per organization, including deleted projects that can be restored. */
export const PROJECTS_MAX = 10_000;
/** More projects than concurrent requests add. With this much room left, requests need no lock. */
const MARGIN = 500;

type Org = Pick<OrgRow, "id" | "slug">;

export interface ProjectKey {
  org: Org;
  actor: AuditActor;
  /** The project's id, slug or name. */
  project: string;
}

interface ProjectInput {
  /** Set for an imported project, which keeps its id. */
  id?: string;
  org: Org;
  actor: AuditActor;
  name: string;
  /** Defaults to the first free slug derived from the name. */
  slug?: string | undefined;
  ownerId: string;
}

/** Creates a project. Throws NAME_TAKEN and QUOTA_EXCEEDED. Call inside a transaction. */
export async function addProject(tx: Sql, input: ProjectInput): Promise<ProjectRow> {
  const { org, actor, name, slug, ownerId, id } = input;
  await requireRoomForProject(tx, org);
  const attempt = `create project "${name}"`;
  await requireFree(tx, { org, attempt, name, slug: slug ?? toSlug(name), isSlugChosen: slug !== undefined });
  const taken = new Set<string>();
  for (const candidate of slug === undefined ? slugCandidates(name) : [slug]) {
    if (taken.has(candidate)) continue;
    const row = { id, orgId: org.id, name, slug: candidate, ownerId };
    const project = await insertProject(tx, row).catch((error: unknown) => {
      throw toNameTaken(error, { org, attempt, name, slug: candidate });
    });
    if (project) {
      await auditProject(tx, { org, actor, project, action: "project.create" });
      return project;
    }
    // Thousands of names may share a slug, such as all names without an ASCII letter or digit.
    for (const other of await listProjectSlugs(tx, org.id)) taken.add(other);
  }
  throw nameTaken({ org, attempt, name, slug: slug ?? "" }, "slug");
}

/** Renames a project. Throws PROJECT_NOT_FOUND and NAME_TAKEN. Call inside a transaction. */
export async function renameProject(
  tx: Sql,
  options: ProjectKey & { name?: string | undefined; slug?: string | undefined },
): Promise<ProjectRow> {
  const { org, actor } = options;
  const before = await requireProject(tx, options, "living");
  const { name = before.name, slug = before.slug } = options;
  if (name === before.name && slug === before.slug) return before;
  const attempt = `rename project "${before.name}"`;
  await requireFree(tx, { org, attempt, name, slug, isSlugChosen: true, exceptId: before.id });
  const project = await updateProjectNames(tx, { id: before.id, name, slug }).catch((error: unknown) => {
    throw toNameTaken(error, { org, attempt, name, slug });
  });
  const details = { fromName: before.name, fromSlug: before.slug };
  await auditProject(tx, { org, actor, project, action: "project.update", details });
  return project;
}

/** Marks a project as deleted and keeps its rows. Throws PROJECT_NOT_FOUND. Call inside a transaction. */
export async function softDeleteProject(tx: Sql, options: ProjectKey): Promise<ProjectRow> {
  const { org, actor } = options;
  // A match by slug wins, even if that project is already deleted. Otherwise, a repeated request could delete another project that
  // has this text as its name.
  const { id } = await requireProject(tx, options, "slug");
  const project = await updateProjectDeleted(tx, { id, isDeleted: true });
  await auditProject(tx, { org, actor, project, action: "project.delete" });
  return project;
}

/**
 * Restores a deleted project. Does nothing if the project is not deleted. Throws PROJECT_NOT_FOUND if it does not exist or,
 * except for operators, was deleted more than thirty days ago. Call inside a transaction.
 */
export async function undeleteProject(tx: Sql, options: ProjectKey): Promise<ProjectRow> {
  const { org, actor, project: name } = options;
  const before = await lockProject(tx, { orgId: org.id, project: name, prefer: "restorable" });
  if (!before || (before.isPastRestore && actor.actorType !== "operator")) throw projectNotFound(name, org);
  if (before.deletedAt === null) return before;
  // After thirty days, a deleted project no longer counts toward the quota.
  if (before.isPastRestore) await requireRoomForProject(tx, org);
  const project = await updateProjectDeleted(tx, { id: before.id, isDeleted: false });
  await auditProject(tx, { org, actor, project, action: "project.restore" });
  return project;
}

/** Throws QUOTA_EXCEEDED at the limit. Near the limit, locks the organization so that concurrent writers cannot exceed it. */
async function requireRoomForProject(tx: Sql, org: Org): Promise<void> {
  if ((await countProjects(tx, org.id)) + MARGIN <= PROJECTS_MAX) return;
  await lockOrg(tx, org.id);
  if ((await countProjects(tx, org.id)) < PROJECTS_MAX) return;
  throw new ApiError("QUOTA_EXCEEDED", { details: { quota: "projects", limit: PROJECTS_MAX } });
}

async function requireProject(
  tx: Sql,
  { org, project }: Omit<ProjectKey, "actor">,
  prefer: "living" | "slug",
): Promise<ProjectRow> {
  const row = await lockProject(tx, { orgId: org.id, project, prefer });
  if (!row || row.deletedAt !== null) throw projectNotFound(project, org);
  return row;
}

function projectNotFound(project: string, { slug }: Org): ApiError {
  return new ApiError("PROJECT_NOT_FOUND", { message: TEXTS.PROJECT_NOT_FOUND.in({ project, slug }) });
}

interface Names {
  org: Org;
  /** The attempted action for the error message, such as `create project "x"`. */
  attempt: string;
  name: string;
  slug: string;
}

/**
 * Throws NAME_TAKEN if another project has the name or the chosen slug. First frees the names of projects that can no longer be
 * restored.
 */
async function requireFree(
  tx: Sql,
  names: Names & { isSlugChosen: boolean; exceptId?: string },
): Promise<void> {
  const { org, name, slug, isSlugChosen, exceptId } = names;
  await releaseProjectNames(tx, { orgId: org.id, name, slug });
  const others = await listProjectsNamed(tx, { orgId: org.id, name, slug });
  for (const other of others) {
    if (other.id === exceptId) continue;
    const isDeleted = other.deletedAt !== null;
    if (other.name === name) throw nameTaken(names, "name", { isDeleted });
    if (isSlugChosen) throw nameTaken(names, "slug", { isDeleted });
  }
}

/** Converts a unique violation by a concurrent transaction to NAME_TAKEN. */
function toNameTaken(error: unknown, names: Names): unknown {
  if (violates(error, "projects_org_id_name_key")) return nameTaken(names, "name");
  if (violates(error, "projects_org_id_slug_key")) return nameTaken(names, "slug");
  return error;
}

function nameTaken(names: Names, field: "name" | "slug", { isDeleted } = { isDeleted: false }): ApiError {
  const { org, attempt } = names;
  return new ApiError("NAME_TAKEN", {
    message: TEXTS.NAME_TAKEN.project({ attempt, slug: org.slug, field, isDeleted }),
    details: { type: "project", name: names[field] },
  });
}

/** Adds an audit entry. Throws if the actor may no longer manage projects. */
async function auditProject(
  tx: Sql,
  options: {
    org: Org;
    actor: AuditActor;
    project: ProjectRow;
    action: string;
    details?: Record<string, string>;
  },
): Promise<void> {
  const { org, actor, project, action, details } = options;
  await requireActorRole(tx, { actor, org, role: "admin" });
  await insertAuditEntry(tx, {
    ...actor,
    action,
    subject: { type: "project", id: project.id },
    orgId: org.id,
    details: { name: project.name, slug: project.slug, ...details },
  });
}
