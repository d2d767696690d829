/** Changes of webhooks, each with its audit entry in one transaction. */
import { randomBytes } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import { isUuid } from "../../shared/uuid.ts";
import type { EventType } from "../../shared/vocabulary.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { lockOrg } from "../../sql/accounts/orgs.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import {
  countPendingDeliveries,
  type DeliveryRow,
  insertDelivery,
  PENDING_MAX,
} from "../../sql/webhooks/webhook_deliveries.ts";
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  RETIRED_SECRETS_MAX,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookRow,
} from "../../sql/webhooks/webhooks.ts";

/** Webhooks of an organization. */
export const WEBHOOKS_MAX = 10;

export interface WebhookKey {
  id: string;
  org: { id: string; slug: string };
}

/** Creates a webhook and returns it with its secret. Throws QUOTA_EXCEEDED. */
export async function createWebhook(
  sql: Pool,
  given: { org: WebhookKey["org"]; actor: AuditActor; url: string; types: readonly EventType[] },
): Promise<WebhookRow & { secret: string }> {
  const { org, actor, url, types } = given;
  const secret = newSecret();
  const row = await sql.begin(async (tx) => {
    await lockOrg(tx, org.id);
    if ((await listWebhooks(tx, org.id)).length >= WEBHOOKS_MAX) {
      throw new ApiError("QUOTA_EXCEEDED", {
        message: `Organization "${org.slug}" has ${WEBHOOKS_MAX} webhooks, the maximum. Delete one that is not needed.`,
        details: { quota: "webhooks", limit: WEBHOOKS_MAX },
      });
    }
    const inserted = await insertWebhook(tx, { orgId: org.id, url, types, secret });
    await audit(tx, actor, { row: inserted, action: "webhook.create" });
    return inserted;
  });
  return { ...row, secret };
}

/** Changes what is given. Throws NOT_FOUND. */
export async function changeWebhook(
  sql: Pool,
  given: WebhookKey & {
    actor: AuditActor;
    change: { url?: string; types?: readonly EventType[]; enabled?: boolean };
  },
): Promise<WebhookRow> {
  const { id, org, actor, change } = given;
  return sql.begin(async (tx) => {
    const row = isUuid(id) ? await updateWebhook(tx, { ...change, id, orgId: org.id }) : null;
    if (!row) throw webhookNotFound(org.slug);
    const changed = Object.keys(change).join(", ");
    if (changed !== "") await audit(tx, actor, { row, action: "webhook.update", changed });
    return row;
  });
}

/** Gives a webhook another secret; the old one signs beside it until `retiredUntil`. Throws NOT_FOUND or QUOTA_EXCEEDED. */
export async function rotateSecret(
  sql: Pool,
  { id, org, actor }: WebhookKey & { actor: AuditActor },
): Promise<{ row: WebhookRow; secret: string; retiredUntil: string }> {
  const secret = newSecret();
  return sql.begin(async (tx) => {
    const rotated = isUuid(id) ? await rotateWebhookSecret(tx, { id, orgId: org.id, secret }) : null;
    if (!rotated) throw webhookNotFound(org.slug);
    if (rotated === "full") {
      throw new ApiError("QUOTA_EXCEEDED", {
        message: `The secret was replaced ${RETIRED_SECRETS_MAX} times in 24 hours, the maximum. Delete the webhook to stop all its secrets.`,
        details: { quota: "secrets", limit: RETIRED_SECRETS_MAX },
      });
    }
    await audit(tx, actor, { row: rotated.row, action: "webhook.rotate" });
    return { ...rotated, secret };
  });
}

function newSecret(): string {
  return `whsec_${randomBytes(24).toString("base64")}`;
}

/** Deletes a webhook with its deliveries. Throws NOT_FOUND. */
export async function removeWebhook(sql: Pool, given: WebhookKey & { actor: AuditActor }): Promise<void> {
  const { id, org, actor } = given;
  await sql.begin(async (tx) => {
    const row = isUuid(id) ? await deleteWebhook(tx, { id, orgId: org.id }) : null;
    if (!row) throw webhookNotFound(org.slug);
    await audit(tx, actor, { row, action: "webhook.delete" });
  });
}

/** Queues a delivery of a test event. Throws NOT_FOUND, VALIDATION_ERROR if it is disabled, or QUOTA_EXCEEDED. */
export async function testWebhook(
  sql: Pool,
  given: WebhookKey & { actor: AuditActor },
): Promise<DeliveryRow> {
  const { id, org, actor } = given;
  const webhook = await requireWebhook(sql, given);
  if (webhook.disabledAt !== null) {
    throw new ApiError("VALIDATION_ERROR", {
      message: `The webhook is disabled. Enable it first: PATCH it with {"enabled": true}.`,
    });
  }
  return sql.begin(async (tx) => {
    await lockOrg(tx, org.id);
    if ((await countPendingDeliveries(tx, id)) >= PENDING_MAX) {
      throw new ApiError("QUOTA_EXCEEDED", {
        message: `${PENDING_MAX} deliveries of this webhook are pending, the maximum. Wait until they are delivered.`,
        details: { quota: "deliveries", limit: PENDING_MAX },
      });
    }
    await audit(tx, actor, { row: webhook, action: "webhook.test" });
    const eventId = crypto.randomUUID();
    const type = "webhook.test";
    const event = { id: eventId, type, createdAt: new Date().toISOString(), organization: org.slug };
    const payload = JSON.stringify({ ...event, data: { webhookId: id } });
    return insertDelivery(tx, { webhookId: id, eventId, type, payload });
  });
}

/** Returns a webhook of the organization. Throws NOT_FOUND. */
export async function requireWebhook(sql: Sql, { id, org }: WebhookKey): Promise<WebhookRow> {
  const row = isUuid(id) ? await findWebhook(sql, { id, orgId: org.id }) : null;
  if (!row) throw webhookNotFound(org.slug);
  return row;
}

function webhookNotFound(slug: string): ApiError {
  return new ApiError("NOT_FOUND", {
    message: `Webhook not found. List webhooks with GET /api/v1/orgs/${slug}/webhooks.`,
    details: { reason: "webhook" },
  });
}

/** Notes the origin only: the rest of a URL may hold a secret of the receiver. */
async function audit(
  tx: Sql,
  actor: AuditActor,
  { row, action, changed }: { row: WebhookRow; action: string; changed?: string },
): Promise<void> {
  await insertAuditEntry(tx, {
    ...actor,
    action,
    subjectType: "webhook",
    subjectId: row.id,
    orgId: row.orgId,
    details: { origin: new URL(row.url).origin, ...(changed === undefined ? {} : { changed }) },
  });
}
