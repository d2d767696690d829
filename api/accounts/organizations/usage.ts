/** GET /orgs/{slug}/usage: the number of definitions of an organization, for its members. */
import { Elysia, t } from "elysia";
import { countDefinitionUsage } from "../../../sql/accounts/organization_definitions.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { access } from "../../http/access.ts";
import { failsWith } from "../../openapi/types.ts";
import { requireOwnOrg } from "./require_own_org.ts";
import { ORGS_TAG, OrgParams } from "./schemas.ts";

export const Usage = t.Object(
  {
    data: t.Object(
      {
        private: t.Integer({ description: "Private and unlisted" }),
        public: t.Integer(),
        total: t.Integer(),
      },
      { title: "OrganizationUsage" },
    ),
  },
  {
    description: "Number of definitions, not of versions; archived definitions do not count",
    examples: [{ data: { private: 2, public: 20, total: 22 } }],
  },
);

export function orgUsageRoutes({ sql }: { sql: Pool }) {
  return new Elysia().use(access).get(
    "/:slug/usage",
    async ({ caller, params }) => {
      const { id } = await requireOwnOrg(sql, { caller, slug: params.slug });
      return { data: await countDefinitionUsage(sql, id) };
    },
    {
      access: "caller",
      params: OrgParams,
      response: { 200: Usage },
      detail: {
        tags: [ORGS_TAG],
        operationId: "getOrganizationUsage",
        summary: "Get the usage of an organization",
        description: "For members. Counts definitions by the visibility of their highest version.",
        ...failsWith("ORG_ACCESS_DENIED", "ORG_NOT_FOUND"),
      },
    },
  );
}
