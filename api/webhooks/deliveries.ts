/** POST …/test and GET …/deliveries: sends a test event to a webhook, and lists its deliveries. */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import {
  countPendingDeliveries,
  insertDelivery,
  listDeliveries,
  PENDING_MAX,
} from "../../sql/webhooks/webhook_deliveries.ts";
import { requireOrgRole } from "../accounts/require_own_org.ts";
import { operation, reply } from "../http/operation.ts";
import {
  changeWebhook,
  requireWebhook,
  requireWriter,
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
  async ({ params: { slug, id }, caller, request }, deps) => {
    const writer = await requireWriter(deps.sql, { caller, request, slug });
    const write = { ...writer, id, action: "webhook.test" };
    const { delivery } = await changeWebhook(deps, write, async (tx, row) => {
      if (row.disabledAt !== null) {
        throw new ApiError("VALIDATION_ERROR", { message: TEXTS.VALIDATION_ERROR.disabledWebhook });
      }
      if ((await countPendingDeliveries(tx, row.id)) >= PENDING_MAX) {
        throw new ApiError("QUOTA_EXCEEDED", { details: { quota: "deliveries", limit: PENDING_MAX } });
      }
      const type = "webhook.test";
      const event = { id: crypto.randomUUID(), type, createdAt: new Date().toISOString() };
      const payload = JSON.stringify({
        ...event,
        organization: writer.org.slug,
        data: { webhookId: row.id },
      });
      const queued = { webhookId: row.id, eventId: event.id, type, payload };
      return { row, delivery: await insertDelivery(tx, queued) };
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
