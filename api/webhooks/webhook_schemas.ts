/** Schemas and examples of the webhook routes. */
import { Type } from "@sinclair/typebox";
import {
  data,
  dataOf,
  Instant,
  listOf,
  Nullable,
  NullableInstant,
  oneOf,
  requestBody,
  Uuid,
} from "../../shared/schemas.ts";
import { EVENT_TYPES, type EventType, WEBHOOK_DELIVERY_STATUSES } from "../../shared/vocabulary.ts";
import { OrgParams } from "../accounts/organizations/schemas.ts";

const EXAMPLE_ID = "3c9e0a52-61c4-4f57-8d3b-1f2f9d3e7a10";
const EXAMPLE_URL = "https://ci.example.com/hooks/definitions";
const EXAMPLE_TYPES: EventType[] = ["definition.published", "export.ready"];

export const WebhookAddress = {
  ...OrgParams,
  id: Type.String({ description: "The webhook's id", examples: [EXAMPLE_ID] }),
};

const Types = Type.Array(oneOf(EVENT_TYPES), {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  description: "Types of events that are delivered",
});
const Url = Type.String({
  maxLength: 2048,
  description: "A public https address; see docs/webhooks.md for others",
});

const fields = {
  id: Uuid({ examples: [EXAMPLE_ID] }),
  url: Type.String({ examples: [EXAMPLE_URL] }),
  types: Type.Array(oneOf(EVENT_TYPES), { examples: [EXAMPLE_TYPES] }),
  enabled: Type.Boolean({
    description: "False after three days of failed deliveries, or by PATCH",
    examples: [true],
  }),
  disabledAt: Nullable(Instant(), { examples: [null] }),
  createdAt: Instant(),
  updatedAt: Instant(),
};
const secret = Type.String({
  description: "Verifies deliveries. It is not shown again.",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
});

const Webhook = Type.Object(fields, { title: "Webhook" });

export const NewWebhook = requestBody(
  "NewWebhook",
  { url: Url, types: Types },
  { url: EXAMPLE_URL, types: EXAMPLE_TYPES },
);

export const WebhookUpdate = requestBody(
  "WebhookUpdate",
  {
    url: Type.Optional(Url),
    types: Type.Optional(Types),
    enabled: Type.Optional(Type.Boolean({ description: "True enables it again, from now on" })),
  },
  { enabled: true },
);

export const OneWebhook = dataOf(Webhook, "The webhook");

export const CreatedWebhook = dataOf(
  Type.Object({ ...fields, secret }, { title: "CreatedWebhook" }),
  "Created",
);

const previousSecretExpiresAt = Instant({
  description: "Until then, the replaced secret signs deliveries too",
  examples: ["2026-11-21T10:00:00.000Z"],
});

export const RotatedWebhook = dataOf(
  Type.Object({ ...fields, secret, previousSecretExpiresAt }, { title: "RotatedWebhook" }),
  "Rotated",
);

export const WebhookList = data({ webhooks: listOf(Webhook) }, "Oldest first");

const EXAMPLE_DELIVERY = {
  id: "1f7a4d9c-5a35-4f6b-9a1e-2f0a7b1c3d4e",
  eventId: "7b0c3f4e-1c52-4f6e-9a53-51f0b1c1f0aa",
  type: "definition.published",
  status: "pending" as const,
  attempts: 2,
  createdAt: "2026-11-20T10:00:01.000Z",
  lastAttemptAt: "2026-11-20T10:00:07.000Z",
  nextAttemptAt: "2026-11-20T10:00:17.000Z",
  responseStatus: 503,
  error: "the receiver responded with status 503",
};

const WebhookDelivery = Type.Object(
  {
    id: Uuid({ description: "Sent as webhook-id with every attempt" }),
    eventId: Uuid(),
    type: oneOf([...EVENT_TYPES, "webhook.test"] as const),
    status: oneOf(WEBHOOK_DELIVERY_STATUSES),
    attempts: Type.Integer(),
    createdAt: Instant(),
    lastAttemptAt: NullableInstant,
    nextAttemptAt: NullableInstant,
    responseStatus: Nullable(Type.Integer(), { description: "Of the last attempt" }),
    error: Nullable(Type.String(), { description: "Why the last attempt failed" }),
  },
  { title: "WebhookDelivery", examples: [EXAMPLE_DELIVERY] },
);

export const DeliveryList = data({ deliveries: listOf(WebhookDelivery) }, "The last 100, newest first");

export const OneDelivery = dataOf(WebhookDelivery, "Queued", {
  ...EXAMPLE_DELIVERY,
  type: "webhook.test",
  attempts: 0,
  lastAttemptAt: null,
  nextAttemptAt: EXAMPLE_DELIVERY.createdAt,
  responseStatus: null,
  error: null,
});
