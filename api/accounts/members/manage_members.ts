/** PATCH and DELETE /orgs/{slug}/members/{userId}: changes a member's role, or removes a member. */
import { Type } from "@sinclair/typebox";
import { data, requestBody } from "../../../shared/schemas.ts";
import { isUuid } from "../../../shared/uuid.ts";
import { auditActor } from "../../http/audit_actor.ts";
import type { Caller } from "../../http/caller.ts";
import { type OperationDeps, operation, reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { Member, ORG_ROLE_FAILURES, OrgParams, ROLE_WRITE } from "../organizations/schemas.ts";
import { requireOwnOrg } from "../require_own_org.ts";
import { OrgRoleSchema } from "../schemas.ts";
import { changeMemberRole, endMembership, type MemberChange } from "./member_changes.ts";

const MEMBER = {
  ...OrgParams,
  userId: Type.String({
    description: "The member's user id, a UUID",
    examples: ["5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c11"],
  }),
};

export const updateMember = operation(
  {
    ...ROLE_WRITE,
    id: "updateMember",
    method: "PATCH",
    path: "/api/v1/orgs/{slug}/members/{userId}",
    summary: "Change a member's role",
    description:
      "Owners can assign any role. Admins can change the roles of members who are not owners, up to `admin`. The last owner " +
      "keeps the role, and a personal organization has one owner. The member is notified by email, and so are owners if an " +
      "owner or admin is involved.",
    params: MEMBER,
    body: requestBody("MemberUpdate", { role: OrgRoleSchema }, { role: "admin" }),
    response: { 200: data({ member: Member }, "The member with the new role") },
    fails: [...ORG_ROLE_FAILURES, ["NOT_FOUND", { reason: "member" }], "LAST_OWNER"],
  },
  async ({ body: { role }, ...input }, deps) => {
    const change = await openChange(deps, input);
    const member = await deps.writeInTurn(input.request, (tx) => changeMemberRole(tx, { ...change, role }));
    return reply(200, { data: { member } });
  },
);

export const removeMember = operation(
  {
    ...ROLE_WRITE,
    id: "removeMember",
    method: "DELETE",
    path: "/api/v1/orgs/{slug}/members/{userId}",
    summary: "Remove a member, or leave an organization",
    description:
      "Every member can leave. Owners can remove anyone; admins can remove members who are not owners. The last owner cannot " +
      "leave. Access ends within a second and running downloads within 30 s. The member's keys for this organization are " +
      "revoked. Their exports stay with the organization.",
    params: MEMBER,
    response: { 204: null },
    fails: [...ORG_ROLE_FAILURES, ["NOT_FOUND", { reason: "member" }], "LAST_OWNER"],
  },
  async (input, deps) => {
    const change = await openChange(deps, input);
    await deps.writeInTurn(input.request, (tx) => endMembership(tx, change));
    // The member's keys for the organization are revoked.
    deps.callers.forget(change.userId);
    return reply(204, null);
  },
);

interface ChangeRequest {
  params: { slug: string; userId: string };
  caller: Caller;
  request: Request;
}

/** Finds the organization of a change. A denied change adds an entry to that organization's audit log. */
async function openChange(
  { sql, boss }: OperationDeps,
  { params: { slug, userId }, caller, request }: ChangeRequest,
): Promise<MemberChange> {
  const org = await requireOwnOrg(sql, { caller, slug });
  requestContext(request).orgId = org.id;
  if (!isUuid(userId)) throw invalidField("userId", "must be a UUID");
  return { boss, actor: auditActor(request, caller), org, userId: userId.toLowerCase() };
}
