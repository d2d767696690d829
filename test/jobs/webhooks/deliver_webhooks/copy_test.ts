/** Tests that a restored copy of the database delivers nothing until an operator declares that it replaces the original. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStoreOwner } from "../../../../jobs/store_owner.ts";
import { keepWebhooksDelivered } from "../../../../jobs/webhooks/deliver_webhooks.ts";
import { sendWebhookDisabled } from "../../../../jobs/webhooks/send_webhook_disabled.ts";
import { openPool } from "../../../../sql/connection/pool.ts";
import { ensureInstallation, markOriginal } from "../../../../sql/database_copy.ts";
import { insertExportEvent } from "../../../../sql/events/events.ts";
import { storedMails } from "../../../helpers/accounts/account_mail.ts";
import { runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openWebhookReceiver } from "../../../helpers/network/webhook_receiver.ts";
import { createWebhook } from "../../../helpers/network/webhooks.ts";
import { copyTestDatabase, restoreElsewhere } from "../../../helpers/postgres/database.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";
import { startRunner } from "../../../helpers/process/runner_process.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const NETWORKS = "127.0.0.0/8";

test("delivers nothing from a copy with its own artifact store until it adopts the store, then all pending events", async () => {
  await using app = await openTestApp({ config: { webhookAllowedNetworks: NETWORKS } });
  const owner = await app.make.person({ role: "owner" });
  await using receiver = await openWebhookReceiver();
  const id = await createWebhook(app, owner, { receiver, types: ["export.ready"] });
  await ensureInstallation(app.db.sql);
  const path = `/api/v1/orgs/${owner.org.slug}/webhooks/${id}/test`;
  expect((await app.request(path, { method: "POST", key: owner.key })).status).toBe(201);
  await insertExportEvent(app.db.sql, { id: crypto.randomUUID(), orgId: owner.org.id, status: "ready" });

  await using copy = await copyTestDatabase(app.db);
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-copy-"));
  const env = { DATABASE_URL: copy.url, DATA_DIR: dataDir, WEBHOOK_ALLOWED_NETWORKS: NETWORKS };
  const listDeliveries = () => copy.sql`
    select type, status, attempts from webhook_deliveries order by number`;
  try {
    await using runner = await startRunner(env);
    const logged = (event: string) =>
      waitFor(() => runner.logLines().find((line) => line["event"] === event));
    await logged("artifact_store.owned");
    expect(await logged("webhook.held")).toMatchObject({ level: "warn" });
    expect([...(await listDeliveries())]).toEqual([{ type: "webhook.test", status: "pending", attempts: 0 }]);
    // Events that are added to the copy are held as well, because the runner cannot tell whether the copy replaces the original.
    await insertExportEvent(copy.sql, { id: crypto.randomUUID(), orgId: owner.org.id, status: "ready" });
    expect(receiver.received).toEqual([]);

    await runJson(copy.url, ["artifacts", "adopt"], env);
    await waitFor(() => receiver.received.length === 3);
    await waitFor(async () => (await listDeliveries()).every(({ status }) => status === "delivered"));
    expect(receiver.received.map(({ event }) => event.type).sort()).toEqual([
      "export.ready",
      "export.ready",
      "webhook.test",
    ]);
    expect(receiver.forged).toBe(0);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test("delivers nothing from a copy even if the first check of the store's owner fails", async () => {
  await using app = await openTestApp({ config: { webhookAllowedNetworks: NETWORKS } });
  const owner = await app.make.person({ role: "owner" });
  await using receiver = await openWebhookReceiver();
  const id = await createWebhook(app, owner, { receiver, types: ["export.ready"] });
  await ensureInstallation(app.db.sql);
  await restoreElsewhere(app.db);
  const path = `/api/v1/orgs/${owner.org.slug}/webhooks/${id}/test`;
  expect((await app.request(path, { method: "POST", key: owner.key })).status).toBe(201);
  await using runner = await openTestRunner(app);
  const { store, log } = runner.deps;
  const away = openPool("postgres://nobody@127.0.0.1:1/nothing", { applicationName: "test", max: 1 });
  const leave = new AbortController();
  const deps = { ...runner.deps, owner: openStoreOwner({ sql: away, store, log }) };
  const delivering = keepWebhooksDelivered(deps, leave.signal);
  await waitFor(
    () => receiver.received.length > 0 || app.logLines.some(({ event }) => event === "webhook.held"),
  );
  leave.abort();
  await delivering;
  await away.end();
  expect(receiver.received).toEqual([]);
  expect(await app.db.sql`select from webhook_deliveries where attempts > 0`).toHaveLength(0);
});

test("sends no mail about a disabled webhook from a copy of the database", async () => {
  await using app = await openTestApp();
  const owner = await app.make.person({ role: "owner" });
  await ensureInstallation(app.db.sql);
  await restoreElsewhere(app.db);
  const [webhook] = await app.db.sql<[{ id: string }]>`
    insert into webhooks (org_id, url, types, secret, position, disabled_at)
    values (${owner.org.id}, 'https://example.com/hook', '{export.ready}', 'whsec_AAAA', 0, now())
    returning id`;
  await using runner = await openTestRunner(app);
  const send = () => sendWebhookDisabled(runner.deps, { webhookId: webhook.id });
  const failed = await send().catch((error: Error) => error.message);
  expect(failed).toStartWith("Cannot send this mail from a copy of the database");
  await markOriginal(app.db.sql);
  await send();
  expect(await storedMails(app)).toHaveLength(1);
});
