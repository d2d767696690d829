/** A restored copy of the database delivers nothing until an operator declares that it replaces the original. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { insertExportEvent } from "../../../../sql/events/events.ts";
import { ensureInstallation } from "../../../../sql/installation.ts";
import { runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openWebhookReceiver } from "../../../helpers/network/webhook_receiver.ts";
import { createWebhook } from "../../../helpers/network/webhooks.ts";
import { copyTestDatabase } from "../../../helpers/postgres/database.ts";
import { startRunner } from "../../../helpers/process/runner_process.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const NETWORKS = "127.0.0.0/8";

test("a copy with an artifact store of its own delivers nothing until it is adopted, then everything that was pending", async () => {
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
    // Events of the copy's own members wait too, because it is unclear which installation this is.
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
