/** DELETE /orgs/{slug} and POST /orgs/{slug}/restore: deletes an organization with a delay of seven days, and restores it. */
import { Type } from "@sinclair/typebox";
import { ACCOUNT_MAILS } from "../../../shared/account_mail_kinds.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { requestBody } from "../../../shared/schemas.ts";
import { findOverLimitWait } from "../../../sql/accounts/account_mails.ts";
import { type AuditActor, insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import {
  markOrgRestored,
  queueDeletionNotices,
  updateOrgDeletesAt,
} from "../../../sql/accounts/organization_deletion.ts";
import { listOwners } from "../../../sql/accounts/organization_members.ts";
import { findOrgById, lockOrg, type OrgRow } from "../../../sql/accounts/orgs.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { Boss } from "../../../sql/job_queue.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { operation, reply } from "../../http/operation.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { requireActorRole, requireOrgRole, requireOwnOrg } from "../require_own_org.ts";
import { ORG_ROLE_FAILURES, OrgDetail, ROLE_WRITE } from "./schemas.ts";

export const deleteOrganization = operation(
  {
    ...ROLE_WRITE,
    id: "deleteOrganization",
    method: "DELETE",
    path: "/api/v1/orgs/{slug}",
    summary: "Delete an organization",
    description:
      "For owners. The organization keeps working for seven days, until `deletesAt`; until then an owner can restore it. After " +
      "that, its members, keys, webhooks and drafts are deleted, and its projects and private definitions are inaccessible. " +
      "Published definitions that others use stay, deprecated, and the slug stays taken. Repeating the request changes nothing. It is " +
      "RATE_LIMITED while an owner has received ten emails about deletions within an hour.",
    body: requestBody(
      "OrganizationDeletion",
      { confirm: Type.String({ description: "The organization's slug, to prevent mistakes" }) },
      { confirm: "demo" },
    ),
    response: { 200: OrgDetail },
    fails: [...ORG_ROLE_FAILURES, "NOT_DELETABLE"],
  },
  async ({ params: { slug }, body, caller, request }, deps) => {
    const org = await requireOrgRole(deps.sql, { caller, slug, request, role: "owner" });
    if (body.confirm !== slug) throw invalidField("confirm", `must be the organization's slug, ${slug}`);
    const change = { org, boss: deps.boss, actor: auditActor(request, caller) };
    await deps.writeInTurn(request, (tx) => scheduleOrgDeletion(tx, change));
    return reply(200, { data: await requireOwnOrg(deps.sql, { caller, slug }) });
  },
);

export const restoreOrganization = operation(
  {
    ...ROLE_WRITE,
    id: "restoreOrganization",
    method: "POST",
    path: "/api/v1/orgs/{slug}/restore",
    summary: "Restore a deleted organization",
    description: "For owners, until `deletesAt`. Does nothing if it is not deleted.",
    response: { 200: OrgDetail },
  },
  async ({ params: { slug }, caller, request }, deps) => {
    const org = await requireOrgRole(deps.sql, { caller, slug, request, role: "owner" });
    const change = { org, boss: deps.boss, actor: auditActor(request, caller) };
    await deps.writeInTurn(request, (tx) => cancelOrgDeletion(tx, change));
    return reply(200, { data: await requireOwnOrg(deps.sql, { caller, slug }) });
  },
);

interface Change {
  org: Pick<OrgRow, "id" | "slug" | "name" | "isPersonal">;
  actor: AuditActor;
  boss: Boss;
}

/**
 * Schedules an organization's deletion in seven days and mails its owners. Does nothing if the deletion is already scheduled.
 * Throws NOT_DELETABLE, and RATE_LIMITED if an owner cannot be mailed. Call inside a transaction.
 */
export async function scheduleOrgDeletion(tx: Sql, change: Change): Promise<OrgRow> {
  const { org } = change;
  if (org.isPersonal) {
    throw new ApiError("NOT_DELETABLE", { message: TEXTS.NOT_DELETABLE.personal(org.slug) });
  }
  await requireStillOwner(tx, change);
  const deletesAt = await updateOrgDeletesAt(tx, org.id);
  if (deletesAt) {
    const mailIds = await noteEnd(tx, change, {
      action: "org.schedule-deletion",
      about: "deletion_scheduled",
      details: { deletesAt },
    });
    await requireNotified(tx, { slug: org.slug, mailIds });
  }
  return requireLiveOrg(tx, org);
}

/**
 * Cancels an organization's deletion and mails its owners. Throws ORG_NOT_FOUND if the organization no longer exists. Call
 * inside a transaction.
 */
export async function cancelOrgDeletion(tx: Sql, change: Change): Promise<OrgRow> {
  await requireStillOwner(tx, change);
  if (await markOrgRestored(tx, change.org.id)) {
    await noteEnd(tx, change, { action: "org.restore", about: "restored" });
  }
  return requireLiveOrg(tx, change.org);
}

async function requireStillOwner(tx: Sql, change: Change): Promise<void> {
  await lockOrg(tx, change.org.id);
  await requireLiveOrg(tx, change.org);
  await requireActorRole(tx, { ...change, role: "owner" });
}

async function requireLiveOrg(tx: Sql, { id }: { id: string }): Promise<OrgRow> {
  const row = await findOrgById(tx, id);
  if (!row) throw new ApiError("ORG_NOT_FOUND");
  return row;
}

/** Throws RATE_LIMITED if an owner gets no mail. Otherwise, repeated restores could hide a deletion from other owners. */
async function requireNotified(
  tx: Sql,
  { slug, mailIds }: { slug: string; mailIds: readonly string[] },
): Promise<void> {
  const { hourlyMax: limit } = ACCOUNT_MAILS.deletion_notice;
  const seconds = await findOverLimitWait(tx, { ids: mailIds, hourlyMax: limit });
  if (seconds === null) return;
  const retryAfter = Math.max(1, seconds);
  const message = TEXTS.RATE_LIMITED.deletionNotices({ slug, limit, seconds: retryAfter });
  throw new ApiError("RATE_LIMITED", { message, details: { limit }, retryAfter });
}

/** Adds an audit entry and queues mails to the owners. Returns the mails' ids. */
async function noteEnd(
  tx: Sql,
  { org, actor, boss }: Change,
  { action, about, details }: { action: string; about: string; details?: Record<string, string> },
): Promise<string[]> {
  await insertAuditEntry(tx, {
    ...actor,
    action,
    subject: { type: "organization", id: org.id },
    orgId: org.id,
    details: { slug: org.slug, ...details },
  });
  const owners = await listOwners(tx, org.id);
  const actorUserId = actor.actorUserId ?? null;
  return queueDeletionNotices(tx, boss, { org, owners, actorUserId, about, details });
}
