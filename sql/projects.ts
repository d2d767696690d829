/** Table `projects`: what runs and issues belong to; each is owned by one organization. */
import type { Sql } from "./pool.ts";

const COLUMNS = [
  "id",
  "org_id",
  "name",
  "slug",
  "domain",
  "owner_id",
  "created_at",
  "updated_at",
  "deleted_at",
];

export interface ProjectRow {
  id: string;
  orgId: string;
  /** Unique in its organization, as is `slug`; a deleted project keeps both. */
  name: string;
  slug: string;
  domain: string | null;
  ownerId: string;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
}

/** Finds a project by id, of any organization, deleted ones included; `null` when there is none. */
export async function findProjectById(sql: Sql, id: string): Promise<ProjectRow | null> {
  const [row] = await sql<ProjectRow[]>`
    select ${sql(COLUMNS)}
    from projects
    where id = ${id}`;
  return row ?? null;
}

export interface NewProject {
  /** Given when a project keeps the id it had elsewhere. */
  id?: string;
  orgId: string;
  name: string;
  slug: string;
  domain?: string | null;
  ownerId: string;
}

/**
 * Inserts a project; `null` when the organization has the slug already. Throws on projects_org_id_name_key when it
 * has the name, and on projects_pkey when the id is taken.
 */
export async function insertProject(sql: Sql, project: NewProject): Promise<ProjectRow | null> {
  const [row] = await sql<ProjectRow[]>`
    insert into projects (id, org_id, name, slug, domain, owner_id)
    values (
      coalesce(${project.id ?? null}::uuid, gen_random_uuid()), ${project.orgId}, ${project.name},
      ${project.slug}, ${project.domain ?? null}, ${project.ownerId}
    )
    on conflict (org_id, slug) do nothing
    returning ${sql(COLUMNS)}`;
  return row ?? null;
}
