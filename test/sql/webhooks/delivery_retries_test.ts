/** When a webhook that fails is disabled. */
import { expect, test } from "bun:test";
import { noteAttempt } from "../../../sql/webhooks/delivery_retries.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openWebhookReceiver } from "../../helpers/network/webhook_receiver.ts";
import { createWebhook } from "../../helpers/network/webhooks.ts";

test("three days of failures count from the last change of the address on", async () => {
  await using app = await openTestApp({ config: { webhookAllowedNetworks: "127.0.0.0/8" } });
  const owner = await app.make.person({ role: "owner" });
  await using receiver = await openWebhookReceiver();
  const webhookId = await createWebhook(app, owner, { receiver, types: ["export.ready"] });
  const path = `/api/v1/orgs/${owner.org.slug}/webhooks/${webhookId}`;
  const queued = await app.request(`${path}/test`, { method: "POST", key: owner.key });
  expect(queued.status).toBe(201);
  const [delivery] = await app.db.sql<{ id: string }[]>`
    update webhook_deliveries
    set first_attempt_at = now() - interval '73 hours', attempts = 9
    returning id`;
  const body = { url: `${receiver.url}/corrected` };
  expect((await app.request(path, { method: "PATCH", key: owner.key, body })).status).toBe(200);
  const fail = () => {
    const failure = { responseStatus: 503, error: "the receiver responded with 503" };
    return noteAttempt(app.db.sql, { id: String(delivery?.id), webhookId, ...failure });
  };
  expect(await fail()).toEqual({ isDisabled: false });
  await app.db.sql`update webhook_deliveries set first_attempt_at = now() - interval '73 hours'`;
  expect(await fail()).toEqual({ isDisabled: true });
});
