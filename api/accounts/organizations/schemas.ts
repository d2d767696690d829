/** Response schemas of the organization routes. */
import { t } from "elysia";
import { NullableText } from "../../http/schemas.ts";
import { OrgRoleSchema, SubscriptionTierSchema } from "../schemas.ts";

export const ORGS_TAG = "Organizations";

const Instant = t.String({ format: "date-time" });

export const OrgParams = t.Object({
  slug: t.String({ description: "The organization's slug", examples: ["demo"] }),
});

const EXAMPLE_ORG = {
  id: "0b9b7f0a-6a2e-4b1c-8b0e-6c3a0e6b7d21",
  slug: "demo",
  name: "Demo",
  isPersonal: false,
  role: "publisher",
  memberCount: 3,
  subscriptionTier: "pro",
  createdAt: "2026-11-20T10:00:00.000Z",
} as const;

const listed = {
  id: t.String({ format: "uuid" }),
  slug: t.String(),
  name: t.String(),
  isPersonal: t.Boolean({ description: "True for the personal organization that every user has" }),
  role: OrgRoleSchema,
  memberCount: t.Integer(),
  subscriptionTier: SubscriptionTierSchema,
  createdAt: Instant,
};

export const OrgList = t.Object(
  { data: t.Object({ organizations: t.Array(t.Object(listed, { title: "OrganizationSummary" })) }) },
  {
    description: "Your organizations, each with your role",
    examples: [{ data: { organizations: [EXAMPLE_ORG] } }],
  },
);

export const OrgDetail = t.Object(
  {
    data: t.Object(
      { ...listed, description: NullableText, websiteUrl: NullableText },
      { title: "Organization" },
    ),
  },
  {
    description: "The organization and your role in it",
    examples: [{ data: { ...EXAMPLE_ORG, description: "Shows what the service does", websiteUrl: null } }],
  },
);

export const MemberList = t.Object(
  {
    data: t.Object({
      members: t.Array(
        t.Object(
          {
            userId: t.String({ format: "uuid" }),
            username: t.String(),
            name: NullableText,
            avatar: NullableText,
            role: OrgRoleSchema,
            joinedAt: Instant,
          },
          { title: "Member" },
        ),
      ),
    }),
  },
  {
    description: "Highest role first",
    examples: [
      {
        data: {
          members: [
            {
              userId: "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c11",
              username: "publisher",
              name: "Petra Lindqvist",
              avatar: null,
              role: "publisher",
              joinedAt: "2026-11-20T10:00:00.000Z",
            },
          ],
        },
      },
    ],
  },
);
