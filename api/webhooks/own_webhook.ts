/** Functions shared by the webhook operations: permission checks, lookup and audit entries. */
import { TEXTS } from "../../shared/error_texts.ts";
import { isPersonalCredential } from "../../shared/policy.ts";
import { isUuid } from "../../shared/uuid.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { lockOrg } from "../../sql/accounts/orgs.ts";
import type { OwnOrgRow } from "../../sql/accounts/own_orgs.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { findWebhook, lockWebhook, type WebhookRow } from "../../sql/webhooks/webhooks.ts";
import { ORG_ROLE_FAILURES } from "../accounts/organizations/schemas.ts";
import { requireActorRole, requireOrgRole } from "../accounts/require_own_org.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import type { OperationDeps } from "../http/operation.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { notFound, requireVisible } from "../http/require_visible.ts";

export const WEBHOOK_OPERATION = { access: "caller", tag: "Events" } as const;

export const WEBHOOK_FAILURES = [...ORG_ROLE_FAILURES, ["NOT_FOUND", { reason: "webhook" }]] as const;
export const WEBHOOK_WRITE_FAILURES = [...WEBHOOK_FAILURES, "KEY_KIND_FORBIDDEN"] as const;

/**
 * Returns the organization of a path and the actor, who must be an owner or admin. Requires a session or a key of kind `user`,
 * because a webhook sends data out of the service.
 */
export async function requireWriter(
  sql: Sql,
  { caller, request, slug }: { caller: Caller; request: Request; slug: string },
): Promise<{ org: OwnOrgRow; actor: AuditActor; request: Request }> {
  const org = await requireOrgRole(sql, { caller, request, slug, role: "admin" });
  requireAllowed(isPersonalCredential(caller.credential));
  return { org, actor: auditActor(request, caller), request };
}

interface WebhookKey {
  id: string;
  org: { id: string; slug: string };
}

/** Returns a webhook of the organization. Throws NOT_FOUND. */
export async function requireWebhook(
  sql: Sql,
  { id, org }: WebhookKey,
  find = findWebhook,
): Promise<WebhookRow> {
  const row = isUuid(id) ? await find(sql, { id, orgId: org.id }) : null;
  return requireVisible(row, () => notFound("webhook", TEXTS.NOT_FOUND.webhook(org.slug)));
}

/**
 * Locks a webhook, changes it and adds an audit entry. `change` applies the change and returns the updated webhook, and the
 * changed fields in `changed`. If `changed` is empty, no entry is added. Throws NOT_FOUND.
 */
export async function changeWebhook<Result extends { row: WebhookRow; changed?: string }>(
  deps: OperationDeps,
  { actor, action, request, ...key }: WebhookKey & { actor: AuditActor; action: string; request: Request },
  change: (tx: Sql, webhook: WebhookRow) => Promise<Result>,
): Promise<Result> {
  return deps.writeInTurn(request, async (tx) => {
    await lockOrg(tx, key.org.id);
    const result = await change(tx, await requireWebhook(tx, key, lockWebhook));
    const { row, changed } = result;
    if (changed !== "") await auditWebhook(tx, actor, { row, action, changed });
    return result;
  });
}

export function presentWebhook({ id, url, types, disabledAt, createdAt, updatedAt }: WebhookRow) {
  return { id, url, types, enabled: disabledAt === null, disabledAt, createdAt, updatedAt };
}

/**
 * Adds an audit entry. Throws if the actor may no longer manage webhooks. The entry contains only the URL's origin, because the
 * rest of the URL may contain a secret of the receiver.
 */
export async function auditWebhook(
  tx: Sql,
  actor: AuditActor,
  { row, action, changed }: { row: WebhookRow; action: string; changed?: string | undefined },
): Promise<void> {
  await requireActorRole(tx, { actor, org: { id: row.orgId }, role: "admin" });
  await insertAuditEntry(tx, {
    ...actor,
    action,
    subject: { type: "webhook", id: row.id },
    orgId: row.orgId,
    details: { origin: new URL(row.url).origin, ...(changed === undefined ? {} : { changed }) },
  });
}
