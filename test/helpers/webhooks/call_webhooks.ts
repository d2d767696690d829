/** Calls the webhook API of a user's organization. */
import type { TestApp } from "../http/app.ts";
import type { Person } from "../postgres/factory.ts";

export const WEBHOOK_BODY = { url: "https://example.com/hook?token=hidden", types: ["export.ready"] };

/** Sends a request. `path` is relative to `/orgs/{slug}/webhooks`. */
export function callWebhooks(
  api: TestApp,
  { key, org }: Person,
  method: string,
  path = "",
  body?: unknown,
): Promise<Response> {
  return api.request(`/api/v1/orgs/${org.slug}/webhooks${path}`, {
    key,
    method,
    ...(body === undefined ? {} : { body }),
  });
}

export async function dataOf<Data>(response: Response): Promise<Data> {
  return ((await response.json()) as { data: Data }).data;
}
