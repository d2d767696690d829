/** GET /orgs/{slug}/profile: the public profile of an organization. */
import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../shared/errors.ts";
import { dataOf, Instant, NullableText, Text } from "../../../shared/schemas.ts";
import { findOrgProfile } from "../../../sql/accounts/orgs.ts";
import { operation, reply } from "../../http/operation.ts";
import { ORGS_TAG, OrgParams } from "./schemas.ts";

const PublicProfile = Type.Object(
  {
    slug: Text,
    name: Text,
    description: NullableText,
    websiteUrl: NullableText,
    isPersonal: Type.Boolean(),
    createdAt: Instant(),
    publicDefinitions: Type.Integer({ description: "Number of public definitions" }),
    totalExecutions: Type.Integer({ description: "Executions of these definitions" }),
  },
  {
    title: "OrganizationProfile",
    examples: [
      {
        slug: "demo",
        name: "Demo",
        description: "Shows what the service does",
        websiteUrl: null,
        isPersonal: false,
        createdAt: "2026-11-20T10:00:00.000Z",
        publicDefinitions: 20,
        totalExecutions: 1240,
      },
    ],
  },
);

export const OrgProfile = dataOf(PublicProfile, "The public profile; unset fields are null");

export const getOrganizationProfile = operation(
  {
    id: "getOrganizationProfile",
    method: "GET",
    path: "/api/v1/orgs/{slug}/profile",
    access: "public",
    tag: ORGS_TAG,
    summary: "Get an organization's public profile",
    description: "For everyone. Members, subscription and private definitions are not included.",
    params: OrgParams,
    response: { 200: OrgProfile },
    fails: ["ORG_NOT_FOUND"],
  },
  async ({ params }, { sql }) => {
    const profile = await findOrgProfile(sql, params.slug);
    if (!profile) throw new ApiError("ORG_NOT_FOUND");
    return reply(200, { data: profile });
  },
);
