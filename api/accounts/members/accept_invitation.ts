/** POST /invitations/preview and /invitations/accept: shows and accepts the invitation of a link. */
import { Type } from "@sinclair/typebox";
import { hashLinkToken } from "../../../shared/account_mail_kinds.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { data, Instant, requestBody } from "../../../shared/schemas.ts";
import { findAccountLink, markAccountLinkUsed } from "../../../sql/accounts/account_mails.ts";
import {
  findMailedInvitation,
  type InvitationOffer,
  isInvited,
  markInvitationAccepted,
} from "../../../sql/accounts/invitations.ts";
import { findMemberRole } from "../../../sql/accounts/organization_members.ts";
import { findOrgById, lockOrg } from "../../../sql/accounts/orgs.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import type { Caller } from "../../http/caller.ts";
import { operation, reply } from "../../http/operation.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { ORGS_TAG } from "../organizations/schemas.ts";
import { OrgRoleSchema } from "../schemas.ts";
import { EXAMPLE_TOKEN, LinkToken } from "../sign_up/request_mail.ts";
import { auditInvitation } from "./invitations.ts";
import { addMember } from "./member_changes.ts";

const KIND = "invitation";
const TokenBody = requestBody("InvitationToken", { token: LinkToken }, { token: EXAMPLE_TOKEN });
const Organization = Type.Object(
  { slug: Type.String({ examples: ["demo"] }), name: Type.String({ examples: ["Demo"] }) },
  { title: "InvitingOrganization" },
);
const Role = { examples: ["publisher"], ...OrgRoleSchema };

export const previewInvitation = operation(
  {
    id: "previewInvitation",
    method: "POST",
    path: "/api/v1/invitations/preview",
    access: "public",
    tag: ORGS_TAG,
    summary: "Get an invitation",
    description:
      "Changes nothing. If you are signed in to an account with another address, returns 403 with the invited address.",
    body: TokenBody,
    reads: true,
    secret: true,
    response: {
      200: data(
        {
          organization: Organization,
          role: Role,
          email: Type.String({ description: "The invited address", examples: ["ann@example.com"] }),
          invitedBy: Type.String({ description: "Username", examples: ["demo-owner"] }),
          expiresAt: Instant({ examples: ["2026-11-27T10:00:00.000Z"] }),
        },
        "What the invitation offers",
      ),
    },
    fails: ["ORG_ACCESS_DENIED"],
  },
  async ({ body, caller }, { sql }) => {
    const { orgSlug: slug, orgName: name, ...offer } = await requireOffer(sql, body.token);
    const { role, email, invitedBy, expiresAt } = offer;
    if (caller) await requireInvited(sql, caller, email);
    return reply(200, { data: { organization: { slug, name }, role, email, invitedBy, expiresAt } });
  },
);

export const acceptInvitation = operation(
  {
    id: "acceptInvitation",
    method: "POST",
    path: "/api/v1/invitations/accept",
    access: "session",
    tag: ORGS_TAG,
    summary: "Accept an invitation",
    description:
      "Your account must have the invited address; otherwise, returns 403 with that address. The link works once. Members keep " +
      "their role. Owners are notified by email of a new owner or admin.",
    body: TokenBody,
    secret: true,
    response: {
      200: data({ organization: Organization, role: Role }, "The organization and your role in it"),
    },
    fails: ["ORG_ACCESS_DENIED"],
  },
  async ({ body: { token }, caller, request }, deps) => {
    const { userId, username } = caller;
    const actor = auditActor(request, caller);
    const { org, role } = await deps.writeInTurn(request, async (tx) => {
      const { orgId } = await requireOffer(tx, token);
      await lockOrg(tx, orgId);
      // Reads the offer again under the lock, because the invitation may have been revoked, or its sender demoted.
      const { id, email, role, invitedBy } = await requireOffer(tx, token);
      await requireInvited(tx, caller, email);
      // If two requests use the same token, the second one fails.
      const link = { kind: KIND, tokenHash: hashLinkToken(token) } as const;
      if (!(await markAccountLinkUsed(tx, link))) throw invalidToken();
      if (!(await markInvitationAccepted(tx, id))) throw invalidToken();
      const current = await findMemberRole(tx, { orgId, userId });
      const org = await findOrgById(tx, orgId);
      if (!org) throw invalidToken();
      if (!current) {
        await addMember(tx, { boss: deps.boss, actor, org, userId, username, role, invitedBy });
        return { org, role };
      }
      const invitation = { id, role: current };
      await auditInvitation(tx, { actor, action: "invitation.accept", org, invitation, invitedBy });
      return { org, role: current };
    });
    return reply(200, { data: { organization: { slug: org.slug, name: org.name }, role } });
  },
);

/** Finds the pending invitation of a link. Every other link gets the same error. */
async function requireOffer(sql: Sql, token: string): Promise<InvitationOffer> {
  const link = await findAccountLink(sql, { kind: KIND, tokenHash: hashLinkToken(token) });
  const offer = link && (await findMailedInvitation(sql, link.id));
  if (!offer) throw invalidToken();
  return offer;
}

function invalidToken(): ApiError {
  return invalidField("token", "is unknown, was used or revoked, or has expired: ask for a new invitation");
}

async function requireInvited(sql: Sql, { userId }: Caller, email: string): Promise<void> {
  if (await isInvited(sql, { userId, email })) return;
  throw new ApiError("ORG_ACCESS_DENIED", {
    message: TEXTS.ORG_ACCESS_DENIED.invitation(email),
    details: { email },
  });
}
