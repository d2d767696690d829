/** GET /orgs, /orgs/{slug} and /orgs/{slug}/members: organizations for their members. */
import { Elysia } from "elysia";
import { listOrgMembers, listOwnOrgs, type OwnOrgRow } from "../../../sql/accounts/organization_profiles.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { access } from "../../http/access.ts";
import { failsWith } from "../../openapi/types.ts";
import { requireOwnOrg } from "./require_own_org.ts";
import { MemberList, ORGS_TAG, OrgDetail, OrgList, OrgParams } from "./schemas.ts";

function presentOrg({ description: _, websiteUrl: __, ...listed }: OwnOrgRow) {
  return listed;
}

export function ownOrgRoutes({ sql }: { sql: Pool }) {
  return new Elysia()
    .use(access)
    .get(
      "/",
      async ({ caller }) => {
        const { userId, credential } = caller;
        const orgId = credential.type === "key" ? credential.orgId : null;
        const organizations = await listOwnOrgs(sql, { userId, orgId });
        return { data: { organizations: organizations.map(presentOrg) } };
      },
      {
        access: "caller",
        response: { 200: OrgList },
        detail: {
          tags: [ORGS_TAG],
          operationId: "listOrganizations",
          summary: "List your organizations",
          description: "Sorted by slug. A key that is bound to one organization lists only that one.",
        },
      },
    )
    .get(
      "/:slug",
      async ({ caller, params }) => ({ data: await requireOwnOrg(sql, { caller, slug: params.slug }) }),
      {
        access: "caller",
        params: OrgParams,
        response: { 200: OrgDetail },
        detail: {
          tags: [ORGS_TAG],
          operationId: "getOrganization",
          summary: "Get an organization",
          description: "For members. Includes your role and the number of members.",
          ...failsWith("ORG_ACCESS_DENIED", "ORG_NOT_FOUND"),
        },
      },
    )
    .get(
      "/:slug/members",
      async ({ caller, params }) => {
        const { id } = await requireOwnOrg(sql, { caller, slug: params.slug });
        return { data: { members: await listOrgMembers(sql, id) } };
      },
      {
        access: "caller",
        params: OrgParams,
        response: { 200: MemberList },
        detail: {
          tags: [ORGS_TAG],
          operationId: "listOrganizationMembers",
          summary: "List the members of an organization",
          description: "For members. Sorted by role, highest first, then by username.",
          ...failsWith("ORG_ACCESS_DENIED", "ORG_NOT_FOUND"),
        },
      },
    );
}
