/** GET /auth/me: the current user, organizations and credential. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { type Credential, maySeeOrg } from "../../shared/policy.ts";
import { data, listOf, NullableInstant, NullableText, oneOf, Text, Uuid } from "../../shared/schemas.ts";
import { listMemberships, type MembershipRow } from "../../sql/accounts/organization_members.ts";
import { findUser } from "../../sql/accounts/users.ts";
import { unauthorized } from "../http/authenticate.ts";
import { operation, reply } from "../http/operation.ts";
import { boundOrgOf } from "../http/resolve_org.ts";
import {
  AUTH_TAG,
  EXAMPLE_SESSION,
  EXAMPLE_USER,
  KeyKindSchema,
  KeyScopeSchema,
  OrgRoleSchema,
  PlatformRoleSchema,
  SubscriptionTierSchema,
} from "./schemas.ts";

const User = Type.Object(
  {
    id: Uuid(),
    email: Text,
    username: Text,
    name: NullableText,
    role: PlatformRoleSchema,
  },
  { title: "User", examples: [{ ...EXAMPLE_USER, name: "Petra Lindqvist" }] },
);

const Membership = Type.Object(
  {
    id: Uuid(),
    slug: Text,
    name: Text,
    role: OrgRoleSchema,
    subscriptionTier: SubscriptionTierSchema,
    isPersonal: Type.Boolean(),
    needsSecondFactor: Type.Boolean({
      description:
        "Whether this session sees nothing of the organization, because it has used no second factor",
    }),
    deletesAt: NullableInstant,
  },
  {
    title: "Membership",
    examples: [
      {
        id: "0b9b7f0a-6a2e-4b1c-8b0e-6c3a0e6b7d21",
        slug: "demo",
        name: "Demo",
        role: "publisher",
        subscriptionTier: "pro",
        isPersonal: false,
        needsSecondFactor: false,
        deletesAt: null,
      },
    ],
  },
);

const CredentialSchema = Type.Object(
  {
    type: oneOf(["session", "key"]),
    kind: Type.Optional(KeyKindSchema),
    scope: Type.Optional(KeyScopeSchema),
    expiresAt: NullableInstant,
  },
  { title: "Credential", examples: [{ type: "session", expiresAt: EXAMPLE_SESSION.expiresAt }] },
);

export const getMe = operation(
  {
    id: "getMe",
    method: "GET",
    path: "/api/v1/auth/me",
    access: "caller",
    tag: AUTH_TAG,
    summary: "Get the current user",
    description:
      "Also lists your organizations and describes the credential. A key that is bound to one organization lists only that one.",
    response: {
      200: data(
        { user: User, organizations: listOf(Membership), credential: CredentialSchema },
        "The user, their organizations and the credential of this request",
      ),
    },
  },
  async ({ caller }, { sql }) => {
    const { userId, credential } = caller;
    const boundTo = boundOrgOf(caller);
    const [user, memberships] = await Promise.all([findUser(sql, userId), listMemberships(sql, userId)]);
    // The user was deleted after the credential lookup.
    if (!user) throw unauthorized(TEXTS.UNAUTHORIZED.account);
    const organizations = memberships
      .filter(({ orgId }) => boundTo === null || boundTo === orgId)
      .map((membership) => presentMembership(membership, credential));
    const { id, email, username, name, platformRole: role } = user;
    return reply(200, {
      data: {
        user: { id, email, username, name, role },
        organizations,
        credential: presentCredential(credential),
      },
    });
  },
);

function presentMembership(membership: MembershipRow, credential: Credential) {
  const { orgId, slug, name, role, tier, isPersonal, deletesAt } = membership;
  const needsSecondFactor = !maySeeOrg(credential, membership).ok;
  return { id: orgId, slug, name, role, subscriptionTier: tier, isPersonal, needsSecondFactor, deletesAt };
}

function presentCredential(credential: Credential) {
  const { type, expiresAt } = credential;
  if (credential.type === "session") return { type, expiresAt };
  return { type, kind: credential.kind, scope: credential.scope, expiresAt };
}
