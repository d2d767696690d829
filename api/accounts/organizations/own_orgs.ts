/** GET /orgs, /orgs/{slug} and /orgs/{slug}/members: organizations for their members. */
import { maySeeOrg } from "../../../shared/policy.ts";
import { listOrgMembers, listOwnOrgs, type OwnOrgRow } from "../../../sql/accounts/own_orgs.ts";
import { operation, reply } from "../../http/operation.ts";
import { requireOwnOrg } from "../require_own_org.ts";
import { MemberList, ORG_FAILURES, ORGS_TAG, OrgDetail, OrgList, OrgParams } from "./schemas.ts";

const BASE = { method: "GET", access: "caller", tag: ORGS_TAG } as const;

export const listOrganizations = operation(
  {
    ...BASE,
    id: "listOrganizations",
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
    ...BASE,
    id: "getOrganization",
    path: "/api/v1/orgs/{slug}",
    summary: "Get an organization",
    description: "For members. Includes your role and the number of members.",
    params: OrgParams,
    response: { 200: OrgDetail },
    fails: ORG_FAILURES,
  },
  async ({ caller, params }, { sql }) =>
    reply(200, { data: await requireOwnOrg(sql, { caller, slug: params.slug }) }),
);

export const listOrganizationMembers = operation(
  {
    ...BASE,
    id: "listOrganizationMembers",
    path: "/api/v1/orgs/{slug}/members",
    summary: "List the members of an organization",
    description: "For members. Sorted by role, highest first, then by username.",
    params: OrgParams,
    response: { 200: MemberList },
    fails: ORG_FAILURES,
  },
  async ({ caller, params }, { sql }) => {
    const { id } = await requireOwnOrg(sql, { caller, slug: params.slug });
    return reply(200, { data: { members: await listOrgMembers(sql, id) } });
  },
);
