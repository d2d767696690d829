/** GET /orgs/{slug}/profile: the public profile of an organization. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../../shared/errors.ts";
import { findOrgProfile } from "../../../sql/accounts/organization_definitions.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { access } from "../../http/access.ts";
import { NullableText } from "../../http/schemas.ts";
import { failsWith } from "../../openapi/types.ts";
import { ORGS_TAG, OrgParams } from "./schemas.ts";

export const OrgProfile = t.Object(
  {
    data: t.Object(
      {
        slug: t.String(),
        name: t.String(),
        description: NullableText,
        websiteUrl: NullableText,
        isPersonal: t.Boolean(),
        createdAt: t.String({ format: "date-time" }),
        publicDefinitions: t.Integer({ description: "Number of public definitions" }),
        totalExecutions: t.Integer({ description: "Executions of these definitions" }),
      },
      { title: "OrganizationProfile" },
    ),
  },
  {
    description: "The public profile; unset fields are null",
    examples: [
      {
        data: {
          slug: "demo",
          name: "Demo",
          description: "Shows what the service does",
          websiteUrl: null,
          isPersonal: false,
          createdAt: "2026-11-20T10:00:00.000Z",
          publicDefinitions: 20,
          totalExecutions: 1240,
        },
      },
    ],
  },
);

export function orgProfileRoutes({ sql }: { sql: Pool }) {
  return new Elysia().use(access).get(
    "/:slug/profile",
    async ({ params }) => {
      const profile = await findOrgProfile(sql, params.slug);
      if (!profile) throw new ApiError("ORG_NOT_FOUND");
      return { data: profile };
    },
    {
      publicAccess: true,
      params: OrgParams,
      response: { 200: OrgProfile },
      detail: {
        tags: [ORGS_TAG],
        operationId: "getOrganizationProfile",
        summary: "Get an organization's public profile",
        description: "For everyone. Members, subscription and private definitions are not included.",
        ...failsWith("ORG_NOT_FOUND"),
      },
    },
  );
}
