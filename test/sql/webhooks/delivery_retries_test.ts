/** Tests when a webhook's next request is due, and when a failing webhook is disabled. */
import { expect, test } from "bun:test";
import { settleEvents } from "../../../sql/events/event_feed.ts";
import { insertExportEvent } from "../../../sql/events/events.ts";
import { noteAttempt } from "../../../sql/webhooks/delivery_retries.ts";
import { claimDeliveries, queueDeliveries } from "../../../sql/webhooks/webhook_deliveries.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openWebhookReceiver } from "../../helpers/network/webhook_receiver.ts";
import { createWebhook } from "../../helpers/network/webhooks.ts";

test("counts three days of failures from the last change to the URL", async () => {
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
  expect(await fail()).toEqual({ disabledAt: null });
  await app.db.sql`update webhook_deliveries set first_attempt_at = now() - interval '73 hours'`;
  expect(await fail()).toEqual({ disabledAt: expect.any(String) });
});

test.each([null, "the receiver responded with 503"])(
  "delivers events at once after an attempt without a pause, even if the database's clock is set back: %j",
  async (error) => {
    await using app = await openTestApp({ config: { webhookAllowedNetworks: "127.0.0.0/8" } });
    const { sql } = app.db;
    const owner = await app.make.person({ role: "owner" });
    await using receiver = await openWebhookReceiver();
    const webhookId = await createWebhook(app, owner, { receiver, types: ["export.ready"] });
    const claimNext = async () => {
      await insertExportEvent(sql, { id: crypto.randomUUID(), orgId: owner.org.id, status: "ready" });
      while (await settleEvents(sql));
      await queueDeliveries(sql);
      return (await claimDeliveries(sql, 1))[0];
    };
    const first = await claimNext();
    await noteAttempt(sql, { id: first?.id ?? "", webhookId, responseStatus: null, error });
    const hour = sql`interval '1 hour'`;
    await sql`update webhooks set due_at = due_at + ${hour}, paused_until = paused_until + ${hour}`;
    await sql`update webhook_deliveries set next_attempt_at = next_attempt_at + ${hour}`;
    expect(await claimNext()).toMatchObject({ webhookId, attempts: 0 });
  },
);
