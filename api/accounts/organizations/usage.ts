/** GET /orgs/{slug}/usage: the number of definitions of an organization, for its members. */
import { Type } from "@sinclair/typebox";
import { countDefinitionUsage } from "../../../sql/definitions/quotas.ts";
import { operation, reply } from "../../http/operation.ts";
import { dataOf } from "../../http/schemas.ts";
import { requireOwnOrg } from "../require_own_org.ts";
import { MEMBER_READ } from "./schemas.ts";

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
