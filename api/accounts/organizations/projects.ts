/** GET /orgs/{slug}/projects: the projects of an organization, for its members. */
import { Elysia, t } from "elysia";
import { type LiveProjectRow, listLiveProjects } from "../../../sql/accounts/projects.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { access } from "../../http/access.ts";
import { failsWith } from "../../openapi/types.ts";
import { requireOwnOrg } from "./require_own_org.ts";
import { ORGS_TAG, OrgParams } from "./schemas.ts";

export const ProjectList = t.Object(
  {
    data: t.Object({
      projects: t.Array(
        t.Object(
          {
            id: t.String({ format: "uuid" }),
            name: t.String(),
            slug: t.String(),
            createdAt: t.String({ format: "date-time" }),
          },
          { title: "Project" },
        ),
      ),
      total: t.Integer({ minimum: 0 }),
    }),
  },
  {
    description: "Projects that are not deleted, by name",
    examples: [
      {
        data: {
          projects: [
            {
              id: "c1d9a8f4-54b3-4f0e-9d7c-1f1f5a3f9b11",
              name: "Checkout Service",
              slug: "checkout-service",
              createdAt: "2026-06-01T09:00:00.000Z",
            },
          ],
          total: 1,
        },
      },
    ],
  },
);

function presentProject({ id, name, slug, createdAt }: LiveProjectRow) {
  return { id, name, slug, createdAt };
}

export function orgProjectRoutes({ sql }: { sql: Pool }) {
  return new Elysia().use(access).get(
    "/:slug/projects",
    async ({ params, caller }) => {
      const { id } = await requireOwnOrg(sql, { caller, slug: params.slug });
      const projects = await listLiveProjects(sql, id);
      return { data: { projects: projects.map(presentProject), total: projects.length } };
    },
    {
      access: "caller",
      params: OrgParams,
      response: { 200: ProjectList },
      detail: {
        tags: [ORGS_TAG],
        operationId: "listOrganizationProjects",
        summary: "List an organization's projects",
        description: "For members. Sorted by name.",
        ...failsWith("ORG_ACCESS_DENIED", "ORG_NOT_FOUND"),
      },
    },
  );
}
