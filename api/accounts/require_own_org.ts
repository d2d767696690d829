/** Finds the organization of a path for a member, and checks the member's role again on writes. */
import { ApiError } from "../../shared/errors.ts";
import { hasOrgRole, maySeeOrg } from "../../shared/policy.ts";
import type { OrgRole } from "../../shared/vocabulary.ts";
import type { AuditActor } from "../../sql/accounts/audit_log.ts";
import { lockMemberRole } from "../../sql/accounts/organization_members.ts";
import { findOrgBySlug } from "../../sql/accounts/orgs.ts";
import { findOwnOrg, type OwnOrgRow } from "../../sql/accounts/own_orgs.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { Caller } from "../http/caller.ts";
import { requestContext } from "../http/request_context.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { boundOrgOf } from "../http/resolve_org.ts";

/**
 * Returns an organization with the caller's role. Throws ORG_NOT_FOUND if no organization has the slug. Throws ORG_ACCESS_DENIED
 * if the caller is not a member, or their key is bound to another organization. The existence of an organization is not secret,
 * because its profile is public.
 */
export async function requireOwnOrg(
  sql: Sql,
  { caller, slug }: { caller: Caller; slug: string },
): Promise<OwnOrgRow> {
  const org = await findOwnOrg(sql, { userId: caller.userId, slug });
  const boundTo = boundOrgOf(caller);
  if (org && (boundTo === null || boundTo === org.id)) {
    requireAllowed(maySeeOrg(caller.credential, org));
    return org;
  }
  throw new ApiError((await findOrgBySlug(sql, slug)) ? "ORG_ACCESS_DENIED" : "ORG_NOT_FOUND");
}

/** Like `requireOwnOrg`, for a caller with this role or a higher one. A denial adds an entry to the organization's audit log. */
export async function requireOrgRole(
  sql: Sql,
  options: { caller: Caller; slug: string; request: Request; role: OrgRole },
): Promise<OwnOrgRow> {
  const org = await requireOwnOrg(sql, options);
  requestContext(options.request).orgId = org.id;
  requireAllowed(hasOrgRole(org.role, options.role));
  return org;
}

interface OrgWrite {
  /** A user, whose role is checked, or an operator, who has an owner's permissions. */
  actor: AuditActor;
  org: { id: string };
}

/**
 * Returns the actor's current role and locks it until the transaction ends. The role may have changed since the request was
 * authorized. Throws ORG_ACCESS_DENIED. Call it in the transaction of the write, after its other locks (`lockMemberRole`).
 */
export async function lockActorRole(tx: Sql, { actor, org }: OrgWrite): Promise<OrgRole> {
  if (actor.actorType !== "user") return "owner";
  const userId = actor.actorUserId;
  const role = userId ? await lockMemberRole(tx, { orgId: org.id, userId }) : null;
  if (!role) throw new ApiError("ORG_ACCESS_DENIED");
  return role;
}

/** Like `lockActorRole`, for a write that requires this role or a higher one. */
export async function requireActorRole(
  tx: Sql,
  { role, ...write }: OrgWrite & { role: OrgRole },
): Promise<void> {
  requireAllowed(hasOrgRole(await lockActorRole(tx, write), role));
}
