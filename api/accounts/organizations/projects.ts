/** /orgs/{slug}/projects: members list projects; owners and admins create, rename, delete and restore them. */
import { type Static, Type } from "@sinclair/typebox";
import { Count, data, Instant, listOf, Nullable, requestBody, Text, Uuid } from "../../../shared/schemas.ts";
import {
  listLiveProjects,
  listRestorableProjects,
  PROJECT_RESTORE_DAYS,
  type ProjectRow,
} from "../../../sql/accounts/projects.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import type { Caller } from "../../http/caller.ts";
import { type OperationDeps, operation, reply } from "../../http/operation.ts";
import { integer, OFFSET, text } from "../../http/query.ts";
import { checkTexts, nameProblem, projectSlugProblem } from "../profile_fields.ts";
import { requireOrgRole, requireOwnOrg } from "../require_own_org.ts";
import {
  addProject,
  PROJECTS_MAX,
  type ProjectKey,
  renameProject,
  softDeleteProject,
  undeleteProject,
} from "./project_changes.ts";
import { MEMBER_READ, ORG_ROLE_FAILURES, OrgParams, ROLE_READ, ROLE_WRITE } from "./schemas.ts";

const DAY_MS = 86_400_000;

const Project = Type.Object(
  { id: Uuid(), name: Text, slug: Text, createdAt: Instant() },
  {
    title: "Project",
    examples: [
      {
        id: "c1d9a8f4-54b3-4f0e-9d7c-1f1f5a3f9b11",
        name: "Checkout Service",
        slug: "checkout-service",
        createdAt: "2026-06-01T09:00:00.000Z",
      },
    ],
  },
);

const ProjectList = data(
  { projects: listOf(Project), total: Count },
  "Projects that are not deleted, by name",
);

const PAGE_QUERY = {
  limit: integer({ min: 1, max: 200, unset: null }, "Page size. Default: all."),
  offset: OFFSET,
};

export const listOrganizationProjects = operation(
  {
    ...MEMBER_READ,
    id: "listOrganizationProjects",
    path: "/api/v1/orgs/{slug}/projects",
    summary: "List an organization's projects",
    description: "For members. Sorted by name.",
    query: { project: text(1_000, "Id or slug of the only project to list"), ...PAGE_QUERY },
    response: { 200: ProjectList },
  },
  async ({ params, query, caller }, { sql }) => {
    const { id: orgId } = await requireOwnOrg(sql, { caller, slug: params.slug });
    const { rows: projects, total } = await listLiveProjects(sql, { orgId, ...query });
    return reply(200, { data: { projects, total } });
  },
);

const ManagedProject = Type.Object(
  {
    id: Uuid({ examples: ["c1d9a8f4-54b3-4f0e-9d7c-1f1f5a3f9b11"] }),
    name: Type.String({ examples: ["Checkout Service"] }),
    slug: Type.String({ examples: ["checkout-service"] }),
    createdAt: Instant({ examples: ["2026-06-01T09:00:00.000Z"] }),
    deletedAt: Nullable(Instant({ examples: ["2026-11-20T10:00:00.000Z"] }), {
      description: "Null if it is not deleted",
    }),
    restorableUntil: Nullable(Instant({ examples: ["2026-12-20T10:00:00.000Z"] }), {
      description: "A deleted project can be restored until then",
    }),
  },
  { title: "ManagedProject" },
);

const NameField = Type.String({
  description: "At most 200 characters, unique in the organization, including deleted projects",
});
const SlugField = Type.String({
  description: "1 to 60 characters of a-z and 0-9, with single hyphens between them; unique like the name",
});
const ProjectParams = {
  ...OrgParams,
  project: Type.String({ description: "The project's id, slug or name", examples: ["checkout-service"] }),
};

const TAKEN = ["NAME_TAKEN", { type: "project", name: "Checkout Service" }] as const;

export const createProject = operation(
  {
    ...ROLE_WRITE,
    id: "createProject",
    method: "POST",
    path: "/api/v1/orgs/{slug}/projects",
    summary: "Create a project",
    description:
      "For owners and admins. If you omit the slug, it is derived from the name, with a number if it is taken. " +
      `An organization has at most ${PROJECTS_MAX.toLocaleString("en-US")} projects, including deleted ones that can be restored.`,
    body: requestBody(
      "NewProject",
      { name: NameField, slug: Type.Optional(SlugField) },
      { name: "Checkout Service" },
    ),
    response: { 201: data({ project: ManagedProject }, "The project") },
    fails: [...ORG_ROLE_FAILURES, TAKEN, ["QUOTA_EXCEEDED", { quota: "projects", limit: PROJECTS_MAX }]],
  },
  async ({ params: { slug }, body, caller, request }, deps) => {
    const org = await requireOrgRole(deps.sql, { caller, slug, request, role: "admin" });
    checkTexts(body, { name: nameProblem, slug: projectSlugProblem });
    const project = { ...body, org, actor: auditActor(request, caller), ownerId: caller.userId };
    const row = await deps.writeInTurn(request, (tx) => addProject(tx, project));
    return reply(201, { data: { project: presentProject(row) } });
  },
);

export const updateProject = operation(
  {
    ...ROLE_WRITE,
    id: "updateProject",
    method: "PATCH",
    path: "/api/v1/orgs/{slug}/projects/{project}",
    summary: "Rename a project",
    description:
      "For owners and admins. Omitted fields stay unchanged. The id does not change. Exports no longer find it by its old name or slug.",
    params: ProjectParams,
    body: requestBody(
      "ProjectUpdate",
      { name: Type.Optional(NameField), slug: Type.Optional(SlugField) },
      { name: "Checkout", slug: "checkout" },
    ),
    response: { 200: data({ project: ManagedProject }, "The project") },
    fails: [...ORG_ROLE_FAILURES, "PROJECT_NOT_FOUND", TAKEN],
  },
  ({ body, ...input }, deps) =>
    changeProject(deps, input, (tx, key) => {
      checkTexts(body, { name: nameProblem, slug: projectSlugProblem });
      return renameProject(tx, { ...body, ...key });
    }),
);

export const deleteProject = operation(
  {
    ...ROLE_WRITE,
    id: "deleteProject",
    method: "DELETE",
    path: "/api/v1/orgs/{slug}/projects/{project}",
    summary: "Delete a project",
    description: `For owners and admins. Exports no longer include it. It keeps its data, name and slug, and can be restored for ${PROJECT_RESTORE_DAYS} days.`,
    params: ProjectParams,
    response: { 200: data({ project: ManagedProject }, "The deleted project") },
    fails: [...ORG_ROLE_FAILURES, "PROJECT_NOT_FOUND"],
  },
  (input, deps) => changeProject(deps, input, softDeleteProject),
);

export const restoreProject = operation(
  {
    ...ROLE_WRITE,
    id: "restoreProject",
    method: "POST",
    path: "/api/v1/orgs/{slug}/projects/{project}/restore",
    summary: "Restore a deleted project",
    description:
      "For owners and admins, until `restorableUntil`. Copies maintained with incremental exports need a full export of it. " +
      "Does nothing if the project is not deleted.",
    params: ProjectParams,
    response: { 200: data({ project: ManagedProject }, "The project") },
    fails: [...ORG_ROLE_FAILURES, "PROJECT_NOT_FOUND"],
  },
  (input, deps) => changeProject(deps, input, undeleteProject),
);

async function changeProject(
  deps: OperationDeps,
  input: { params: { slug: string; project: string }; caller: Caller; request: Request },
  change: (tx: Sql, key: ProjectKey) => Promise<ProjectRow>,
) {
  const { params, caller, request } = input;
  const org = await requireOrgRole(deps.sql, { caller, slug: params.slug, request, role: "admin" });
  const key = { org, actor: auditActor(request, caller), project: params.project };
  const row: ProjectRow = await deps.writeInTurn(request, (tx) => change(tx, key));
  return reply(200, { data: { project: presentProject(row) } });
}

export const listDeletedProjects = operation(
  {
    ...ROLE_READ,
    id: "listDeletedProjects",
    path: "/api/v1/orgs/{slug}/projects/deleted",
    summary: "List deleted projects",
    description: "For owners and admins. Lists projects that can be restored, most recently deleted first.",
    query: PAGE_QUERY,
    response: {
      200: data({ projects: listOf(ManagedProject), total: Count }, "Projects that can be restored"),
    },
  },
  async ({ params: { slug }, query, caller, request }, { sql }) => {
    const { id: orgId } = await requireOrgRole(sql, { caller, slug, request, role: "admin" });
    const { rows, total } = await listRestorableProjects(sql, { orgId, ...query });
    return reply(200, { data: { projects: rows.map(presentProject), total } });
  },
);

function presentProject({ id, name, slug, createdAt, deletedAt }: ProjectRow): Static<typeof ManagedProject> {
  const restorableUntil =
    deletedAt === null ? null : new Date(Date.parse(deletedAt) + PROJECT_RESTORE_DAYS * DAY_MS).toISOString();
  return { id, name, slug, createdAt, deletedAt, restorableUntil };
}
