/** GET /auth/me: the current user, organizations and credential. */
import { Elysia, t } from "elysia";
import type { Credential } from "../../shared/policy.ts";
import { listMemberships, type MembershipRow } from "../../sql/accounts/organization_members.ts";
import { findUser, type UserRow } from "../../sql/accounts/users.ts";
import { access } from "../http/access.ts";
import { unauthorized } from "../http/authenticate.ts";
import { NullableInstant } from "../http/schemas.ts";
import type { AuthDeps } from "./auth_deps.ts";
import {
  AUTH_TAG,
  EXAMPLE_SESSION,
  EXAMPLE_USER,
  KeyKindSchema,
  KeyScopeSchema,
  OrgRoleSchema,
  PlatformRoleSchema,
  SubscriptionTierSchema,
} from "./auth_schemas.ts";

const Me = t.Object(
  {
    data: t.Object({
      user: t.Object(
        {
          id: t.String({ format: "uuid" }),
          email: t.String(),
          username: t.String(),
          name: t.Union([t.String(), t.Null()]),
          role: PlatformRoleSchema,
        },
        { title: "User" },
      ),
      organizations: t.Array(
        t.Object(
          {
            id: t.String({ format: "uuid" }),
            slug: t.String(),
            name: t.String(),
            role: OrgRoleSchema,
            subscriptionTier: SubscriptionTierSchema,
            isPersonal: t.Boolean(),
          },
          { title: "Membership" },
        ),
      ),
      credential: t.Object(
        {
          type: t.Union([t.Literal("session"), t.Literal("key")]),
          kind: t.Optional(KeyKindSchema),
          scope: t.Optional(KeyScopeSchema),
          expiresAt: NullableInstant,
        },
        { title: "Credential" },
      ),
    }),
  },
  {
    description: "The user, their organizations and the credential of this request",
    examples: [
      {
        data: {
          user: { ...EXAMPLE_USER, name: "Petra Lindqvist" },
          organizations: [
            {
              id: "0b9b7f0a-6a2e-4b1c-8b0e-6c3a0e6b7d21",
              slug: "demo",
              name: "Demo",
              role: "publisher",
              subscriptionTier: "pro",
              isPersonal: false,
            },
          ],
          credential: { type: "session", expiresAt: EXAMPLE_SESSION.expiresAt },
        },
      },
    ],
  },
);

function presentUser({ id, email, username, name, platformRole }: UserRow) {
  return { id, email, username, name, role: platformRole };
}

function presentMembership({ orgId, slug, name, role, tier, isPersonal }: MembershipRow) {
  return { id: orgId, slug, name, role, subscriptionTier: tier, isPersonal };
}

function presentCredential(credential: Credential) {
  const { type, expiresAt } = credential;
  if (credential.type === "session") return { type, expiresAt };
  return { type, kind: credential.kind, scope: credential.scope, expiresAt };
}

/** Whether a credential works for an organization of its user. A bound key works for one only. */
function worksFor(credential: Credential, orgId: string): boolean {
  return credential.type === "session" || credential.orgId === null || credential.orgId === orgId;
}

export function meRoutes({ sql }: Pick<AuthDeps, "sql">) {
  return new Elysia().use(access).get(
    "/me",
    async ({ caller }) => {
      const { userId, credential } = caller;
      const [user, memberships] = await Promise.all([findUser(sql, userId), listMemberships(sql, userId)]);
      // Deleted since the credential was looked up.
      if (!user) throw unauthorized("Your account no longer exists.");
      return {
        data: {
          user: presentUser(user),
          organizations: memberships
            .filter(({ orgId }) => worksFor(credential, orgId))
            .map((membership) => presentMembership(membership)),
          credential: presentCredential(credential),
        },
      };
    },
    {
      access: "caller",
      response: { 200: Me },
      detail: {
        tags: [AUTH_TAG],
        operationId: "getMe",
        summary: "Get the current user",
        description:
          "Also lists your organizations and describes the credential. A key that is bound to one organization lists only that one.",
      },
    },
  );
}
