/** GET /orgs/{slug}/projects: the projects of an organization, for its members. */
import { Type } from "@sinclair/typebox";
import { type LiveProjectRow, listLiveProjects } from "../../../sql/accounts/projects.ts";
import { operation, reply } from "../../http/operation.ts";
import { Count, data, Instant, listOf, Text } from "../../http/schemas.ts";
import { requireOwnOrg } from "../require_own_org.ts";
import { ORG_FAILURES, ORGS_TAG, OrgParams } from "./schemas.ts";

const Project = Type.Object(
  { id: Type.String({ format: "uuid" }), name: Text, slug: Text, createdAt: Instant() },
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

export const ProjectList = data(
  { projects: listOf(Project), total: Count },
  "Projects that are not deleted, by name",
);

export const listOrganizationProjects = operation(
  {
    id: "listOrganizationProjects",
    method: "GET",
    path: "/api/v1/orgs/{slug}/projects",
    access: "caller",
    tag: ORGS_TAG,
    summary: "List an organization's projects",
    description: "For members. Sorted by name.",
    params: OrgParams,
    response: { 200: ProjectList },
    fails: ORG_FAILURES,
  },
  async ({ params, caller }, { sql }) => {
    const { id } = await requireOwnOrg(sql, { caller, slug: params.slug });
    const projects = await listLiveProjects(sql, id);
    return reply(200, { data: { projects: projects.map(presentProject), total: projects.length } });
  },
);

function presentProject({ id, name, slug, createdAt }: LiveProjectRow) {
  return { id, name, slug, createdAt };
}
