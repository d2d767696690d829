/** `project create`, `list`, `rename`, `delete` and `restore`. */
import {
  listProjects,
  lockProject,
  PROJECT_RESTORE_DAYS,
  type ProjectRow,
} from "../../sql/accounts/projects.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import {
  addProject,
  type ProjectKey,
  renameProject,
  softDeleteProject,
  undeleteProject,
} from "../accounts/organizations/project_changes.ts";
import { nameProblem, projectSlugProblem } from "../accounts/profile_fields.ts";
import { type CommandResult, checkFlags, defineCommand, OPERATOR, UsageError } from "./command/command.ts";
import { fields, table } from "./command/format_output.ts";
import { findProjectOwner, ORG_FLAG, requireOrg } from "./command/lookups.ts";

const PROJECT_FLAGS = {
  org: ORG_FLAG,
  project: { placeholder: "P", required: true, about: "id, slug or name of the project" },
} as const;

export const PROJECT_COMMANDS = [
  defineCommand({
    name: "project create",
    about: "Creates an empty project.",
    flags: {
      org: ORG_FLAG,
      name: { placeholder: "N", required: true, about: "unique in the organization" },
      slug: { placeholder: "S", about: "derived from the name if omitted" },
      owner: {
        placeholder: "U",
        about: "username of the member who owns it; default: the member with the highest role",
      },
    },
    async run({ sql }, { name, slug, ...values }) {
      checkFlags({ name: nameProblem(name), slug: slug && projectSlugProblem(slug) });
      return present(
        await sql.begin(async (tx) => {
          const org = await requireOrg(tx, values.org);
          const ownerId = await findProjectOwner(tx, { org, owner: values.owner });
          return addProject(tx, { org, actor: OPERATOR, name, slug, ownerId });
        }),
      );
    },
  }),
  defineCommand({
    name: "project list",
    about: "Lists the projects of an organization, newest first, including deleted ones.",
    flags: { org: ORG_FLAG },
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
          "No projects.",
        ),
      };
    },
  }),
  defineCommand({
    name: "project rename",
    about: "Changes the name or slug of a project.",
    flags: {
      ...PROJECT_FLAGS,
      name: { placeholder: "N", about: "unique in the organization" },
      slug: { placeholder: "S", about: "unique in the organization" },
    },
    async run({ sql }, { name, slug, ...key }) {
      if (name === undefined && slug === undefined) {
        throw new UsageError("Nothing to change. Pass --name or --slug.");
      }
      checkFlags({ name: name && nameProblem(name), slug: slug && projectSlugProblem(slug) });
      return changeProject(sql, key, (tx, value) => renameProject(tx, { ...value, name, slug }));
    },
  }),
  defineCommand({
    name: "project delete",
    about: `Deletes a project. It keeps its rows; its organization can restore it for ${PROJECT_RESTORE_DAYS} days.`,
    flags: PROJECT_FLAGS,
    run: ({ sql }, key) => changeProject(sql, key, softDeleteProject),
  }),
  defineCommand({
    name: "project restore",
    about: "Restores a deleted project, however long ago it was deleted.",
    flags: PROJECT_FLAGS,
    run: ({ sql, warn }, key) =>
      changeProject(sql, key, async (tx, value) => {
        const { org, project } = value;
        const before = await lockProject(tx, { orgId: org.id, project, prefer: "restorable" });
        if (before?.deletedAt === null) {
          warn(`Note: project "${before.slug}" is not deleted. Nothing was changed.`);
        }
        return undeleteProject(tx, value);
      }),
  }),
];

function present({ id, name, slug, deletedAt }: ProjectRow): CommandResult {
  return {
    json: { id, name, slug, deletedAt },
    text: fields({ Project: name, Id: id, Slug: slug, Deleted: deletedAt }),
  };
}

/** Runs `change` in a transaction for the project named by the flags. */
async function changeProject(
  sql: Pool,
  { org: slug, project }: { org: string; project: string },
  change: (tx: Sql, key: ProjectKey) => Promise<ProjectRow>,
): Promise<CommandResult> {
  return present(
    await sql.begin(async (tx) => change(tx, { org: await requireOrg(tx, slug), project, actor: OPERATOR })),
  );
}
