/** OpenAPI description of what webhooks get. */
import { TEXT } from "../../shared/json_schema.ts";
import { DELIVERED_EVENT } from "../events/event_schemas.ts";
import type { OpenApiOperation } from "./types.ts";

function header(name: string, description: string, example: string) {
  return { name, in: "header", required: true, description, example, schema: TEXT } as const;
}

/** The request that the job runner sends. */
export const DELIVERY: OpenApiOperation = {
  tags: ["Events"],
  operationId: "receiveEvent",
  summary: "Receive an event",
  description:
    "Sent to the URL of a webhook, signed as Standard Webhooks says. Every event arrives at least once, in no promised " +
    "order. `POST /orgs/{slug}/webhooks/{id}/test` sends the type `webhook.test`. Accept types that you do not know: more " +
    "may come.",
  parameters: [
    header(
      "webhook-id",
      "The same with every attempt: use it to drop repetitions",
      "1f7a4d9c-5a35-4f6b-9a1e-2f0a7b1c3d4e",
    ),
    header("webhook-timestamp", "Time of the attempt, in Unix seconds", "1795168807"),
    header(
      "webhook-signature",
      "`v1,` and the Base64 of the HMAC-SHA256 of id, timestamp and body, joined by dots. Several are separated by spaces",
      "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
  ],
  requestBody: {
    required: true,
    content: { "application/json": { schema: DELIVERED_EVENT, example: DELIVERED_EVENT.examples[0] } },
  },
  responses: {
    "2XX": { description: "Delivered. The body is not read" },
    default: { description: "Not delivered: the event is sent again, for three days" },
  },
};
