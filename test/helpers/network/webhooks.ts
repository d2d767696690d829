/** Calls the webhook API of an organization. */
import type { EventType } from "../../../shared/vocabulary.ts";
import type { TestApp } from "../http/app.ts";
import type { Person } from "../postgres/factory.ts";
import type { WebhookReceiver } from "./webhook_receiver.ts";

export interface ListedDelivery {
  id: string;
  eventId: string;
  status: string;
  attempts: number;
  responseStatus: number | null;
  error: string | null;
}

/**
 * Creates a webhook that delivers to the receiver, passes the webhook's secret to the receiver, and returns the
 * webhook's id.
 */
export async function createWebhook(
  app: Pick<TestApp, "request">,
  owner: Person,
  { receiver, types }: { receiver: WebhookReceiver; types: readonly EventType[] },
): Promise<string> {
  const path = `/api/v1/orgs/${owner.org.slug}/webhooks`;
  const response = await app.request(path, {
    method: "POST",
    key: owner.key,
    body: { url: receiver.url, types },
  });
  if (response.status !== 201) throw new Error(`Cannot create a webhook: ${await response.text()}`);
  const { data } = (await response.json()) as { data: { id: string; secret: string } };
  receiver.secret = data.secret;
  return data.id;
}

/** Lists a webhook's deliveries, newest first. */
export async function listDeliveries(
  app: Pick<TestApp, "request">,
  owner: Person,
  id: string,
): Promise<ListedDelivery[]> {
  const path = `/api/v1/orgs/${owner.org.slug}/webhooks/${id}/deliveries`;
  const response = await app.request(path, { key: owner.key });
  return ((await response.json()) as { data: { deliveries: ListedDelivery[] } }).data.deliveries;
}
