/** Finds the organization that a path names, for one of its members, and checks their role again when they write. */
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
 * The organization as the caller sees it. Throws ORG_NOT_FOUND if no organization has the slug, and ORG_ACCESS_DENIED to a
 * caller who is not a member, or holds a key that is bound to another: that an organization exists is no secret, its profile
 * is public.
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

/** The same for a caller with this role or a higher one. A denial is an entry in the organization's audit log. */
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
  /** A user, whose role decides, or an operator, who may do what owners may. */
  actor: AuditActor;
  org: { id: string };
}

/**
 * Returns the actor's role, which may have changed since the request was authorized. It cannot change until the
 * transaction ends. Throws ORG_ACCESS_DENIED. Call it in the transaction of the write, after its other locks
 * (`lockMemberRole`).
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
