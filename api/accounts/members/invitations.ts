/** POST, GET and DELETE /orgs/{slug}/invitations: an organization's invitations. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { mayManageMembers } from "../../../shared/policy.ts";
import { data, Instant, listOf, requestBody, Text, Uuid } from "../../../shared/schemas.ts";
import { isUuid } from "../../../shared/uuid.ts";
import { queueAccountMail } from "../../../sql/accounts/account_mails.ts";
import { type AuditActor, insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import {
  countPendingInvitations,
  findInvitationWait,
  findInvitedRole,
  findPendingInvitation,
  type InvitationRow,
  insertInvitation,
  listPendingInvitations,
  markInvitationRevoked,
} from "../../../sql/accounts/invitations.ts";
import { lockOrg } from "../../../sql/accounts/orgs.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { operation, reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { notFound } from "../../http/require_visible.ts";
import { ORG_ROLE_FAILURES, OrgParams, ROLE_READ, ROLE_WRITE } from "../organizations/schemas.ts";
import { checkTexts, emailProblem } from "../profile_fields.ts";
import { lockActorRole, requireOrgRole } from "../require_own_org.ts";
import { lockCaller } from "../require_proof.ts";
import { OrgRoleSchema } from "../schemas.ts";
import { requireOneOwner } from "./member_changes.ts";

/** Pending invitations per organization. */
export const PENDING_INVITATIONS_MAX = 100;
/** Invitations per user and hour, in all organizations together. */
export const HOURLY_INVITATIONS_MAX = 50;

const EXAMPLE = {
  id: "8b0c4d5e-1f2a-4b3c-9d8e-7f6a5b4c3d2e",
  email: "ann@example.com",
  role: "publisher",
  invitedBy: "demo-owner",
  createdAt: "2026-11-20T10:00:00.000Z",
  expiresAt: "2026-11-27T10:00:00.000Z",
} as const;

const Invitation = Type.Object(
  {
    id: Uuid(),
    email: Type.String({ description: "In lowercase" }),
    role: OrgRoleSchema,
    invitedBy: Type.String({ description: "Username" }),
    createdAt: Instant(),
    expiresAt: Instant(),
  },
  { title: "Invitation", examples: [EXAMPLE] },
);
const InvitationBody = requestBody(
  "NewInvitation",
  { email: Text, role: OrgRoleSchema },
  { email: EXAMPLE.email, role: EXAMPLE.role },
);

export const createInvitation = operation(
  {
    ...ROLE_WRITE,
    id: "createInvitation",
    method: "POST",
    path: "/api/v1/orgs/{slug}/invitations",
    summary: "Invite a member by email",
    description:
      "Owners can invite to any role, admins up to `admin`. The link in the email works once, for seven days, and only while " +
      "you may still invite. A new invitation to the same address replaces the earlier one. The response does not reveal " +
      "whether the address has an account or gets an email: an address gets at most three an hour, and others later.",
    body: InvitationBody,
    response: { 201: data({ invitation: Invitation }, "The pending invitation") },
    fails: [
      ["VALIDATION_ERROR", { errors: [{ path: "email", message: "must be an email address" }] }],
      ...ORG_ROLE_FAILURES,
      ["QUOTA_EXCEEDED", { quota: "invitations", limit: PENDING_INVITATIONS_MAX }],
    ],
  },
  async ({ params, body, caller, request }, deps) => {
    const { email, role } = body;
    const org = await requireOrgRole(deps.sql, { slug: params.slug, caller, request, role: "admin" });
    requireAllowed(mayManageMembers(org.role, role));
    checkTexts({ email }, { email: emailProblem });
    requireOneOwner(org, role);
    const { network, span } = requestContext(request);
    const invitation = await deps.writeInTurn(request, async (tx) => {
      const actor = auditActor(request, caller);
      await lockOrg(tx, org.id);
      const actorRole = await lockActorRole(tx, { actor, org });
      requireAllowed(mayManageMembers(actorRole, role));
      // The new invitation replaces an earlier one to the same address, which the actor must be allowed to revoke.
      const replaced = await findInvitedRole(tx, { orgId: org.id, email });
      if (replaced !== null) requireAllowed(mayManageMembers(actorRole, replaced));
      await requireRoom(tx, { orgId: org.id, userId: caller.userId, email });
      const row = await insertInvitation(tx, { orgId: org.id, email, role, invitedBy: caller.userId });
      const details = { invitationId: row.id };
      const mail = { kind: "invitation", email, orgId: org.id, details, network } as const;
      await queueAccountMail(tx, deps.boss, { ...mail, traceparent: span?.traceparent });
      await auditInvitation(tx, { actor, action: "invitation.create", org, invitation: row });
      return { ...row, invitedBy: caller.username };
    });
    return reply(201, { data: { invitation } });
  },
);

export const listInvitations = operation(
  {
    ...ROLE_READ,
    id: "listInvitations",
    path: "/api/v1/orgs/{slug}/invitations",
    summary: "List pending invitations",
    description: "For owners and admins. Newest first.",
    response: { 200: data({ invitations: listOf(Invitation) }, "Invitations that can still be accepted") },
  },
  async ({ params, caller, request }, { sql }) => {
    const org = await requireOrgRole(sql, { slug: params.slug, caller, request, role: "admin" });
    return reply(200, { data: { invitations: await listPendingInvitations(sql, org.id) } });
  },
);

export const revokeInvitation = operation(
  {
    ...ROLE_WRITE,
    id: "revokeInvitation",
    method: "DELETE",
    path: "/api/v1/orgs/{slug}/invitations/{id}",
    summary: "Revoke an invitation",
    description: "Its link stops working. Admins cannot revoke an invitation for an owner.",
    params: { ...OrgParams, id: Type.String({ description: "The invitation's id", examples: [EXAMPLE.id] }) },
    response: { 204: null },
    fails: [...ORG_ROLE_FAILURES, ["NOT_FOUND", { reason: "invitation" }]],
  },
  async ({ params, caller, request }, deps) => {
    const org = await requireOrgRole(deps.sql, { slug: params.slug, caller, request, role: "admin" });
    const actor = auditActor(request, caller);
    await deps.writeInTurn(request, async (tx) => {
      await lockOrg(tx, org.id);
      const actorRole = await lockActorRole(tx, { actor, org });
      const invitation = isUuid(params.id) ? await findPendingInvitation(tx, params.id) : null;
      if (invitation?.orgId !== org.id) throw notFound("invitation", TEXTS.NOT_FOUND.invitation(org.slug));
      requireAllowed(mayManageMembers(actorRole, invitation.role));
      await markInvitationRevoked(tx, invitation.id);
      await auditInvitation(tx, { actor, action: "invitation.revoke", org, invitation });
    });
    return reply(204, null);
  },
);

/** Throws QUOTA_EXCEEDED or RATE_LIMITED at a limit. Locks the sender so that concurrent requests cannot exceed it. */
async function requireRoom(
  tx: Sql,
  { orgId, userId, email }: { orgId: string; userId: string; email: string },
): Promise<void> {
  await lockCaller(tx, { userId });
  if ((await countPendingInvitations(tx, { orgId, exceptEmail: email })) >= PENDING_INVITATIONS_MAX) {
    throw new ApiError("QUOTA_EXCEEDED", {
      details: { quota: "invitations", limit: PENDING_INVITATIONS_MAX },
    });
  }
  const seconds = await findInvitationWait(tx, { userId, limit: HOURLY_INVITATIONS_MAX });
  if (seconds === 0) return;
  throw new ApiError("RATE_LIMITED", {
    message: TEXTS.RATE_LIMITED.invitations(HOURLY_INVITATIONS_MAX),
    retryAfter: seconds,
  });
}

/** Adds an audit entry without the address, because audit entries are permanent. */
export async function auditInvitation(
  tx: Sql,
  options: {
    actor: AuditActor;
    action: string;
    org: { id: string; slug: string };
    invitation: Pick<InvitationRow, "id" | "role">;
    invitedBy?: string;
  },
): Promise<void> {
  const { actor, action, org, invitation, ...sender } = options;
  await insertAuditEntry(tx, {
    ...actor,
    action,
    subject: { type: "invitation", id: invitation.id },
    orgId: org.id,
    details: { org: org.slug, role: invitation.role, ...sender },
  });
}
