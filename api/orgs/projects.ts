/** GET /orgs/{slug}/projects: the projects of an organization, for its members. */
import { Elysia, t } from "elysia";
import type { Sql } from "../../sql/pool.ts";
import { type LiveProjectRow, listLiveProjects } from "../../sql/projects.ts";
import { access } from "../access.ts";
import { failsWith } from "../openapi.ts";
import { requireMembership } from "../organization.ts";

const Params = t.Object({ slug: t.String({ description: "The organization's slug" }) });

const ProjectList = t.Object(
  {
    data: t.Object({
      projects: t.Array(
        t.Object({
          id: t.String({ format: "uuid" }),
          name: t.String(),
          slug: t.String(),
          createdAt: t.String({ format: "date-time" }),
        }),
      ),
      total: t.Integer({ minimum: 0 }),
    }),
  },
  {
    description: "All of them that are not deleted, by name",
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

export function orgProjectRoutes(deps: { sql: Sql }) {
  return new Elysia().use(access).get(
    "/orgs/:slug/projects",
    async ({ params, caller }) => {
      const { orgId } = await requireMembership(deps.sql, caller, params.slug);
      const projects = await listLiveProjects(deps.sql, orgId);
      return { data: { projects: projects.map(presentProject), total: projects.length } };
    },
    {
      access: "caller",
      params: Params,
      response: { 200: ProjectList },
      detail: {
        tags: ["Organizations"],
        operationId: "listOrgProjects",
        summary: "List an organization's projects",
        description: "For members. An organization that does not exist is refused as one of others is.",
        ...failsWith("ORG_ACCESS_DENIED"),
      },
    },
  );
}
