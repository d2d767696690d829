/** The operations of webhooks. */
import type { AnyOperation } from "../http/operation.ts";
import { listWebhookDeliveries, testWebhook } from "./deliveries.ts";
import { rotateWebhookSecret } from "./rotate.ts";
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, updateWebhook } from "./webhooks.ts";

export const WEBHOOK_OPERATIONS: readonly AnyOperation[] = [
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
];
