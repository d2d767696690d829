/** Schemas that several endpoints of organizations use. */
import { Type } from "@sinclair/typebox";
import {
  data,
  dataOf,
  Instant,
  listOf,
  Nullable,
  NullableText,
  Text,
  Uuid,
} from "../../../shared/schemas.ts";
import { OrgRoleSchema, SubscriptionTierSchema } from "../schemas.ts";

export const ORGS_TAG = "Organizations";

/** The parameters of paths below /orgs/{slug}. */
export const OrgParams = {
  slug: Type.String({ description: "The organization's slug", examples: ["demo"] }),
};

const EXAMPLE_ORG = {
  id: "0b9b7f0a-6a2e-4b1c-8b0e-6c3a0e6b7d21",
  slug: "demo",
  name: "Demo",
  isPersonal: false,
  role: "publisher",
  memberCount: 3,
  subscriptionTier: "pro",
  requireSecondFactor: false,
  createdAt: "2026-11-20T10:00:00.000Z",
  deletesAt: null,
} as const;

const listed = {
  id: Uuid(),
  slug: Text,
  name: Text,
  isPersonal: Type.Boolean({ description: "True for the personal organization that every user has" }),
  role: OrgRoleSchema,
  memberCount: Type.Integer(),
  subscriptionTier: SubscriptionTierSchema,
  requireSecondFactor: Type.Boolean({
    description: "Whether sessions need a second factor to access the organization",
  }),
  createdAt: Instant(),
  deletesAt: Nullable(Instant(), {
    description: "When it will be deleted, if an owner deleted it; an owner can restore it until then",
  }),
};

const Summary = Type.Object(listed, { title: "OrganizationSummary", examples: [EXAMPLE_ORG] });

export const OrgList = data({ organizations: listOf(Summary) }, "Your organizations, each with your role");

export const OrgDetail = dataOf(
  Type.Object({ ...listed, description: NullableText, websiteUrl: NullableText }, { title: "Organization" }),
  "The organization and your role in it",
  { ...EXAMPLE_ORG, description: "Shows what the service does", websiteUrl: null },
);

export const Member = Type.Object(
  {
    userId: Uuid(),
    username: Text,
    name: NullableText,
    avatar: NullableText,
    role: OrgRoleSchema,
    joinedAt: Instant(),
  },
  {
    title: "Member",
    examples: [
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
);

export const MemberList = data({ members: listOf(Member) }, "Highest role first");

/** Errors of endpoints for any member. */
const ORG_FAILURES = ["ORG_ACCESS_DENIED", "ORG_NOT_FOUND"] as const;
/** Errors of endpoints that require a role. */
export const ORG_ROLE_FAILURES = [...ORG_FAILURES, "INSUFFICIENT_ORG_ROLE"] as const;

/** Declaration of a read by any member. */
export const MEMBER_READ = {
  method: "GET",
  access: "caller",
  tag: ORGS_TAG,
  params: OrgParams,
  fails: ORG_FAILURES,
} as const;
/** Declaration of a read that requires a role. */
export const ROLE_READ = { ...MEMBER_READ, fails: ORG_ROLE_FAILURES } as const;
/** Declaration of a write that requires a role. */
export const ROLE_WRITE = {
  access: "session",
  tag: ORGS_TAG,
  params: OrgParams,
  fails: ORG_ROLE_FAILURES,
} as const;
