/** `project create` and `project list`. */
import { slugCandidates } from "../../shared/slugs.ts";
import { NIL_UUID } from "../../shared/uuid.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { findLeadingMemberId, findMemberRole, type OrgRow } from "../../sql/accounts/orgs.ts";
import { insertProject, listProjects, type ProjectRow } from "../../sql/accounts/projects.ts";
import { type Sql, violates } from "../../sql/connection/pool.ts";
import { nameProblem } from "../accounts/profile_fields.ts";
import { AdminError, checkFlags, defineCommand } from "./command.ts";
import { requireOrg, requireUser } from "./lookups.ts";
import { fields, table } from "./present.ts";

export interface ProjectInput {
  /** Set if an imported project keeps its id. */
  id?: string;
  org: OrgRow;
  name: string;
  ownerId: string;
}

/** Creates a project with the first free slug of its name. Call inside a transaction. */
export async function createProject(tx: Sql, input: ProjectInput): Promise<ProjectRow> {
  const { org, name, ownerId, id } = input;
  for (const slug of slugCandidates(name)) {
    const row = { ...(id === undefined ? {} : { id }), orgId: org.id, name, slug, ownerId };
    const project = await insertProject(tx, row).catch((error: unknown) => {
      if (!violates(error, "projects_org_id_name_key")) throw error;
      throw new AdminError(
        `Cannot create project "${name}": another project in organization "${org.slug}" has this name`,
      );
    });
    if (!project) continue;
    await insertAuditEntry(tx, {
      actorType: "operator",
      action: "project.create",
      subjectType: "project",
      subjectId: project.id,
      orgId: org.id,
      details: { name, slug: project.slug },
    });
    return project;
  }
  throw new Error("Cannot run out of slugs: there is no end of candidates");
}

/** Returns the id of the member in `--owner`, else of the first member with the highest role, else the nil UUID. */
export async function findProjectOwner(
  tx: Sql,
  { org, owner }: { org: OrgRow; owner: string | undefined },
): Promise<string> {
  if (owner === undefined) return (await findLeadingMemberId(tx, org.id)) ?? NIL_UUID;
  const user = await requireUser(tx, owner);
  if (await findMemberRole(tx, { orgId: org.id, userId: user.id })) return user.id;
  throw new AdminError(
    `Cannot make "${owner}" the owner of the project: the user is not a member of organization "${org.slug}"`,
  );
}

export const createProjectCommand = defineCommand({
  name: "project create",
  about: "Creates an empty project. Its slug is derived from its name.",
  flags: {
    org: { placeholder: "S", required: true, about: "slug of the organization" },
    name: { placeholder: "N", required: true, about: "unique in the organization" },
    owner: {
      placeholder: "U",
      about: "username of the member who owns it; default: the member with the highest role",
    },
  },
  async run({ sql }, values) {
    checkFlags({ name: nameProblem(values.name) });
    const project = await sql.begin(async (tx) => {
      const org = await requireOrg(tx, values.org);
      const ownerId = await findProjectOwner(tx, { org, owner: values.owner });
      return createProject(tx, { org, name: values.name, ownerId });
    });
    const { id, name, slug } = project;
    return {
      json: { id, name, slug },
      text: fields([
        ["Project", name],
        ["Id", id],
        ["Slug", slug],
      ]),
    };
  },
});

export const listProjectsCommand = defineCommand({
  name: "project list",
  about: "Lists the projects of an organization, newest first, including deleted ones.",
  flags: { org: { placeholder: "S", required: true, about: "slug of the organization" } },
  async run({ sql }, values) {
    const org = await requireOrg(sql, values.org);
    const rows = await listProjects(sql, org.id);
    const projects = rows.map(({ id, name, slug, createdAt, deletedAt }) => {
      return { id, name, slug, createdAt, deletedAt };
    });
    return {
      json: { projects },
      text: table(
        ["SLUG", "NAME", "CREATED", "DELETED", "ID"],
        projects.map(({ slug, name, createdAt, deletedAt, id }) => [
          ...[slug, name, createdAt, deletedAt ?? "no", id],
        ]),
      ),
    };
  },
});
