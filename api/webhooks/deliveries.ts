/** POST …/test and GET …/deliveries: what is sent to a webhook. */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { isUuid } from "../../shared/uuid.ts";
import { lockOrg } from "../../sql/accounts/orgs.ts";
import {
  countPendingDeliveries,
  insertDelivery,
  listDeliveries,
  PENDING_MAX,
} from "../../sql/webhooks/webhook_deliveries.ts";
import { lockWebhook } from "../../sql/webhooks/webhooks.ts";
import { requireOrgRole } from "../accounts/require_own_org.ts";
import { auditActor } from "../http/audit_actor.ts";
import { operation, reply } from "../http/operation.ts";
import {
  auditWebhook,
  requireWebhook,
  requireWebhookRow,
  requireWritableOrg,
  WEBHOOK_FAILURES,
  WEBHOOK_OPERATION,
  WEBHOOK_WRITE_FAILURES,
} from "./own_webhook.ts";
import { DeliveryList, OneDelivery, WebhookAddress } from "./webhook_schemas.ts";

export const testWebhook = operation(
  {
    ...WEBHOOK_OPERATION,
    id: "testWebhook",
    method: "POST",
    path: "/api/v1/orgs/{slug}/webhooks/{id}/test",
    summary: "Deliver a test event",
    description:
      "For owners and admins. Queues an event of type `webhook.test`; list the deliveries for the outcome.",
    params: WebhookAddress,
    response: { 201: OneDelivery },
    fails: [...WEBHOOK_WRITE_FAILURES, ["QUOTA_EXCEEDED", { quota: "deliveries", limit: PENDING_MAX }]],
  },
  async ({ params: { slug, id }, caller, request }, { sql }) => {
    const org = await requireWritableOrg(sql, { caller, request, slug });
    const delivery = await sql.begin(async (tx) => {
      await lockOrg(tx, org.id);
      const row = requireWebhookRow(isUuid(id) ? await lockWebhook(tx, { id, orgId: org.id }) : null, org);
      if (row.disabledAt !== null) {
        throw new ApiError("VALIDATION_ERROR", {
          message: TEXTS.VALIDATION_ERROR.disabledWebhook,
        });
      }
      if ((await countPendingDeliveries(tx, id)) >= PENDING_MAX) {
        throw new ApiError("QUOTA_EXCEEDED", { details: { quota: "deliveries", limit: PENDING_MAX } });
      }
      await auditWebhook(tx, auditActor(request, caller), { row, action: "webhook.test" });
      const eventId = crypto.randomUUID();
      const type = "webhook.test";
      const event = { id: eventId, type, createdAt: new Date().toISOString(), organization: org.slug };
      const payload = JSON.stringify({ ...event, data: { webhookId: id } });
      return insertDelivery(tx, { webhookId: id, eventId, type, payload });
    });
    return reply(201, { data: delivery });
  },
);

export const listWebhookDeliveries = operation(
  {
    ...WEBHOOK_OPERATION,
    id: "listWebhookDeliveries",
    method: "GET",
    path: "/api/v1/orgs/{slug}/webhooks/{id}/deliveries",
    summary: "List the deliveries of a webhook",
    description:
      "For owners and admins. The last 100, newest first, with the outcome of the last attempt. If there are more, those " +
      "without an attempt are left out first.",
    params: WebhookAddress,
    response: { 200: DeliveryList },
    fails: WEBHOOK_FAILURES,
  },
  async ({ params: { slug, id }, caller, request }, { sql }) => {
    const org = await requireOrgRole(sql, { caller, request, slug, role: "admin" });
    const webhook = await requireWebhook(sql, { id, org });
    return reply(200, { data: { deliveries: await listDeliveries(sql, webhook.id) } });
  },
);
