/** GET /orgs, /orgs/{slug}, /orgs/{slug}/members and /orgs/{slug}/usage: the caller's organizations. */
import { Type } from "@sinclair/typebox";
import { maySeeOrg } from "../../../shared/policy.ts";
import { dataOf } from "../../../shared/schemas.ts";
import { listOrgMembers, listOwnOrgs } from "../../../sql/accounts/own_orgs.ts";
import { countDefinitionUsage } from "../../../sql/definitions/quotas.ts";
import { operation, reply } from "../../http/operation.ts";
import { boundOrgOf } from "../../http/resolve_org.ts";
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
  async ({ caller }, { sql }) => {
    const { userId, credential } = caller;
    const organizations = await listOwnOrgs(sql, { userId, orgId: boundOrgOf(caller) });
    const seen = organizations.filter((org) => maySeeOrg(credential, org).ok);
    return reply(200, {
      data: { organizations: seen.map(({ description: _, websiteUrl: __, ...listed }) => listed) },
    });
  },
);

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

const Usage = dataOf(
  Type.Object(
    {
      private: Type.Integer({ description: "Private and unlisted" }),
      public: Type.Integer(),
      total: Type.Integer(),
    },
    { title: "OrganizationUsage", examples: [{ private: 2, public: 20, total: 22 }] },
  ),
  "Number of definitions, not of versions; archived definitions do not count",
);

export const getOrganizationUsage = operation(
  {
    ...MEMBER_READ,
    id: "getOrganizationUsage",
    path: "/api/v1/orgs/{slug}/usage",
    summary: "Get the usage of an organization",
    description: "For members. Counts definitions by the visibility of their highest version.",
    response: { 200: Usage },
  },
  async ({ caller, params }, { sql }) => {
    const { id } = await requireOwnOrg(sql, { caller, slug: params.slug });
    return reply(200, { data: await countDefinitionUsage(sql, id) });
  },
);
