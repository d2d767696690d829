/** GET /orgs, /orgs/{slug} and /orgs/{slug}/members: organizations for their members. */
import { maySeeOrg } from "../../../shared/policy.ts";
import { listOrgMembers, listOwnOrgs, type OwnOrgRow } from "../../../sql/accounts/own_orgs.ts";
import { operation, reply } from "../../http/operation.ts";
import { requireOwnOrg } from "../require_own_org.ts";
import { MEMBER_READ, MemberList, ORGS_TAG, OrgDetail, OrgList } from "./schemas.ts";

export const listOrganizations = operation(
  {
    id: "listOrganizations",
    method: "GET",
    access: "caller",
    tag: ORGS_TAG,
    path: "/api/v1/orgs",
    summary: "List your organizations",
    description:
      "Sorted by slug. A key that is bound to one organization lists only that one. " +
      "Organizations that require a second factor are left out if the session has none.",
    response: { 200: OrgList },
  },
  async ({ caller: { userId, credential } }, { sql }) => {
    const orgId = credential.type === "key" ? credential.orgId : null;
    const organizations = await listOwnOrgs(sql, { userId, orgId });
    const seen = organizations.filter((org) => maySeeOrg(credential, org).ok);
    return reply(200, { data: { organizations: seen.map(presentOrg) } });
  },
);

function presentOrg({ description: _, websiteUrl: __, ...listed }: OwnOrgRow) {
  return listed;
}

export const getOrganization = operation(
  {
    ...MEMBER_READ,
    id: "getOrganization",
    path: "/api/v1/orgs/{slug}",
    summary: "Get an organization",
    description: "For members. Includes your role and the number of members.",
    response: { 200: OrgDetail },
  },
  async ({ caller, params }, { sql }) =>
    reply(200, { data: await requireOwnOrg(sql, { caller, slug: params.slug }) }),
);

export const listOrganizationMembers = operation(
  {
    ...MEMBER_READ,
    id: "listOrganizationMembers",
    path: "/api/v1/orgs/{slug}/members",
    summary: "List the members of an organization",
    description: "For members. Sorted by role, highest first, then by username.",
    response: { 200: MemberList },
  },
  async ({ caller, params }, { sql }) => {
    const { id } = await requireOwnOrg(sql, { caller, slug: params.slug });
    return reply(200, { data: { members: await listOrgMembers(sql, id) } });
  },
);
