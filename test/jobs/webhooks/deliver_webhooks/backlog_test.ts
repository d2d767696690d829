/** Tests that deliveries continue while earlier events are not yet queued for many webhooks. */
import { expect, test } from "bun:test";
import { keepWebhooksDelivered } from "../../../../jobs/webhooks/deliver_webhooks.ts";
import { insertExportEvent } from "../../../../sql/events/events.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openWebhookReceiver } from "../../../helpers/network/webhook_receiver.ts";
import { createWebhook } from "../../../helpers/network/webhooks.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

test("delivers events even if new events arrive before the deliveries of all webhooks are queued", async () => {
  await using app = await openTestApp({ config: { webhookAllowedNetworks: "127.0.0.0/8" } });
  const { sql, owner: admin } = app.db;
  const owner = await app.make.person({ role: "owner" });
  const other = await app.make.person({ role: "owner" });
  await using receiver = await openWebhookReceiver();
  await createWebhook(app, owner, { receiver, types: ["export.ready"] });
  await sql`
    insert into webhooks (org_id, url, types, secret, position)
    select ${other.org.id}, 'https://example.com/hook', '{export.ready}', 'whsec_AAAA', 1
    from generate_series(1, 250)`;
  const jobId = crypto.randomUUID();
  await insertExportEvent(sql, { id: jobId, orgId: owner.org.id, status: "ready" });
  // Adds and settles a new event whenever deliveries are queued for a batch of webhooks.
  await admin.unsafe(`
    create function settle_another() returns trigger language plpgsql as $$
    begin
      insert into events (type, is_public, data) values ('model.added', true, '{}');
      perform settle_events(1000);
      return null;
    end $$;
    create trigger webhooks_settle_another after update of position on webhooks
    for each statement execute function settle_another()`);
  await using runner = await openTestRunner(app);
  const leave = new AbortController();
  const delivering = keepWebhooksDelivered(runner.deps, leave.signal);
  await waitFor(() => receiver.received.length > 0).finally(() => leave.abort());
  await delivering;
  expect(receiver.received.map(({ event }) => event.data["jobId"])).toEqual([jobId]);
});
