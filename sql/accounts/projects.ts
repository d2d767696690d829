/** Table `projects`. A project belongs to an organization and has runs and issues. visible_project.ts finds a caller's projects. */
import { isUuid } from "../../shared/uuid.ts";
import {
  columnList,
  type Fragment,
  firstRow,
  fragment,
  onlyRow,
  onlyValue,
  type Sql,
} from "../connection/pool.ts";

const COLUMNS = columnList("id, org_id, name, slug, created_at, deleted_at");

export interface ProjectRow {
  id: string;
  orgId: string;
  /** `name` and `slug` are each unique in the organization. A deleted project keeps both. */
  name: string;
  slug: string;
  createdAt: string;
  deletedAt: string | null;
}

/** The number of days for which a deleted project can be restored. */
export const PROJECT_RESTORE_DAYS = 30;

/** Finds a project by id in any organization; null if not found. Deleted projects are included. */
export async function findProjectById(sql: Sql, id: string): Promise<ProjectRow | null> {
  return firstRow(sql<ProjectRow[]>`
    select ${sql(COLUMNS)}
    from projects
    where id = ${id}`);
}

/** Lists all projects of an organization, including deleted ones, newest first. */
export async function listProjects(sql: Sql, orgId: string): Promise<ProjectRow[]> {
  return sql<ProjectRow[]>`
    select ${sql(COLUMNS)}
    from projects
    where org_id = ${orgId}
    order by created_at desc, id`;
}

/** Lists the slugs of all projects of an organization, including deleted ones. */
export async function listProjectSlugs(sql: Sql, orgId: string): Promise<string[]> {
  const rows = await sql<{ slug: string }[]>`select slug from projects where org_id = ${orgId}`;
  return rows.map(({ slug }) => slug);
}

/** Finds a project of an organization by its name; null if not found. Deleted projects are included. */
export async function findProjectByName(
  sql: Sql,
  key: { orgId: string; name: string },
): Promise<ProjectRow | null> {
  return firstRow(sql<ProjectRow[]>`
    select ${sql(COLUMNS)}
    from projects
    where org_id = ${key.orgId} and name = ${key.name}`);
}

/**
 * Finds and locks a project of an organization by its id, slug or name; null if none matches. A match by id takes precedence. If
 * one project has the text as its slug and another as its name, `prefer` selects the project: one that is not deleted (`living`),
 * one that can be restored (`restorable`), or the one with the slug. `isPastRestore` is true if a deleted project can no longer be
 * restored. Call inside a transaction.
 */
export async function lockProject(
  tx: Sql,
  { orgId, project, prefer }: { orgId: string; project: string; prefer: "living" | "restorable" | "slug" },
): Promise<(ProjectRow & { isPastRestore: boolean }) | null> {
  const preferred = {
    living: tx`deleted_at is null desc,`,
    restorable: tx`deleted_at is null, is_past_restore,`,
    slug: tx``,
  };
  // The name of a project may also be a UUID.
  const hasId = isUuid(project) ? tx`id = ${project}` : tx`id is null`;
  return firstRow(tx<(ProjectRow & { isPastRestore: boolean })[]>`
    select ${tx(COLUMNS)},
      coalesce(deleted_at <= now() - make_interval(days => ${PROJECT_RESTORE_DAYS}), false) as is_past_restore
    from projects
    where org_id = ${orgId}
      and (${hasId} or slug = ${project} or name = ${project})
    order by ${hasId} desc, ${preferred[prefer]} slug = ${project} desc
    limit 1
    for update`);
}

/** Counts the projects of an organization, including deleted projects that can be restored. */
export async function countProjects(sql: Sql, orgId: string): Promise<number> {
  return countWhere(
    sql,
    fragment`
      org_id = ${orgId}
      and (deleted_at is null or deleted_at > now() - make_interval(days => ${PROJECT_RESTORE_DAYS}))`,
  );
}

async function countWhere(sql: Sql, condition: Fragment): Promise<number> {
  return onlyValue(sql<[{ count: number }]>`select count(*)::int as count from projects where ${condition}`);
}

/** A page of an organization's projects; all projects if `limit` is unset. */
interface ProjectPage {
  orgId: string;
  limit?: number | null;
  offset?: number;
}

/** Lists an organization's deleted projects that can be restored, newest deletion first, and returns their total number. */
export async function listRestorableProjects(
  sql: Sql,
  { orgId, limit = null, offset = 0 }: ProjectPage,
): Promise<{ rows: ProjectRow[]; total: number }> {
  const restorable = fragment`
    org_id = ${orgId} and deleted_at > now() - make_interval(days => ${PROJECT_RESTORE_DAYS})`;
  const total = await countWhere(sql, restorable);
  const rows = await sql<ProjectRow[]>`
    select ${sql(COLUMNS)}
    from projects
    where ${restorable}
    order by deleted_at desc, id
    limit ${limit} offset ${offset}`;
  return { rows: [...rows], total };
}

/**
 * Frees a name and slug by renaming deleted projects that have them and can no longer be restored. The new names contain the
 * projects' ids. Call it before a project takes the name or slug.
 */
export async function releaseProjectNames(
  sql: Sql,
  { orgId, name, slug }: { orgId: string; name: string; slug: string },
): Promise<void> {
  await sql`
    update projects
    set name = left(name, 150) || ' (' || id || ')', slug = id::text, updated_at = now()
    where org_id = ${orgId} and (name = ${name} or slug = ${slug})
      and deleted_at <= now() - make_interval(days => ${PROJECT_RESTORE_DAYS})`;
}

/** Lists the projects of an organization with this name or slug, including deleted ones. */
export async function listProjectsNamed(
  sql: Sql,
  { orgId, name, slug }: { orgId: string; name: string; slug: string },
): Promise<ProjectRow[]> {
  return sql<ProjectRow[]>`
    select ${sql(COLUMNS)}
    from projects
    where org_id = ${orgId} and (name = ${name} or slug = ${slug})`;
}

/** Renames a project. Violates projects_org_id_name_key or projects_org_id_slug_key if another project has the name or slug. */
export async function updateProjectNames(
  sql: Sql,
  { id, name, slug }: { id: string; name: string; slug: string },
): Promise<ProjectRow> {
  return onlyRow(sql<[ProjectRow]>`
    update projects
    set name = ${name}, slug = ${slug}, updated_at = now()
    where id = ${id}
    returning ${sql(COLUMNS)}`);
}

export async function updateProjectDeleted(
  sql: Sql,
  { id, isDeleted }: { id: string; isDeleted: boolean },
): Promise<ProjectRow> {
  return onlyRow(sql<[ProjectRow]>`
    update projects
    set deleted_at = case when ${isDeleted} then now() end, updated_at = now()
    where id = ${id}
    returning ${sql(COLUMNS)}`);
}

type LiveProjectRow = Pick<ProjectRow, "id" | "name" | "slug" | "createdAt">;

/**
 * Lists an organization's projects that are not deleted, ordered by name and id, and returns their total number. With `project`,
 * lists only the projects with that id or slug.
 */
export async function listLiveProjects(
  sql: Sql,
  { orgId, project = null, limit = null, offset = 0 }: ProjectPage & { project?: string | null },
): Promise<{ rows: LiveProjectRow[]; total: number }> {
  const live = fragment`org_id = ${orgId} and deleted_at is null and ${hasIdOrSlug(project)}`;
  const total = await countWhere(sql, live);
  const rows = await sql<LiveProjectRow[]>`
    select id, name, slug, created_at
    from projects
    where ${live}
    order by name collate "C", id
    limit ${limit} offset ${offset}`;
  return { rows: [...rows], total };
}

function hasIdOrSlug(project: string | null): Fragment {
  if (project === null) return fragment`true`;
  return isUuid(project) ? fragment`(id = ${project} or slug = ${project})` : fragment`slug = ${project}`;
}

export interface NewProject {
  /** Set to reuse the project's id from another installation; random if unset. */
  id?: string | undefined;
  orgId: string;
  name: string;
  slug: string;
  ownerId: string;
}

/**
 * Inserts a project; null if the organization already has a project with the slug. Violates projects_org_id_name_key if the
 * organization has a project with the name, and projects_pkey if the id is taken.
 */
export async function insertProject(sql: Sql, project: NewProject): Promise<ProjectRow | null> {
  return firstRow(sql<ProjectRow[]>`
    insert into projects (id, org_id, name, slug, owner_id)
    values (
      coalesce(${project.id ?? null}::uuid, gen_random_uuid()), ${project.orgId}, ${project.name},
      ${project.slug}, ${project.ownerId}
    )
    on conflict (org_id, slug) do nothing
    returning ${sql(COLUMNS)}`);
}
