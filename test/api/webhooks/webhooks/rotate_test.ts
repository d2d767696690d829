import { expect, test } from "bun:test";
import { errorOf } from "../../../helpers/exports/export_job.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { callWebhooks, dataOf, WEBHOOK_BODY } from "../../../helpers/webhooks/call_webhooks.ts";

test("a secret can be replaced at most five times in 24 hours, and old secrets are deleted with the webhook", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const { id, secret } = await dataOf<{ id: string; secret: string }>(
    await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY),
  );
  const secrets = [secret];
  const rotate = () => callWebhooks(api, owner, "POST", `/${id}/rotate`);
  for (let n = 0; n < 5; n += 1) {
    const response = await rotate();
    const data = await dataOf<{ secret: string; previousSecretExpiresAt: string }>(response);
    const { secret: fresh, previousSecretExpiresAt, ...webhook } = data;
    expect([response.status, fresh]).toEqual([200, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/)]);
    expect(webhook).toEqual(await dataOf(await callWebhooks(api, owner, "GET", `/${id}`)));
    expect(Math.round((Date.parse(previousSecretExpiresAt) - Date.now()) / 3_600_000)).toBe(24);
    secrets.push(fresh);
  }
  expect(new Set(secrets).size).toBe(6);
  expect(await errorOf(await rotate())).toEqual([409, "QUOTA_EXCEEDED"]);
  const [row] = await api.db.sql`select secret from webhooks where id = ${id}`;
  expect(row?.["secret"]).toBe(secrets.at(-1));
  const stranger = await api.make.person({ role: "owner" });
  expect((await callWebhooks(api, { ...stranger, org: owner.org }, "POST", `/${id}/rotate`)).status).toBe(
    403,
  );
  expect(await errorOf(await callWebhooks(api, stranger, "POST", `/${id}/rotate`))).toEqual([
    404,
    "NOT_FOUND",
  ]);
  const log = JSON.stringify([await api.db.sql`select action, details from audit_log`, api.logLines]);
  expect(log).toContain("webhook.rotate");
  for (const text of secrets) expect(log).not.toContain(text);
  expect((await callWebhooks(api, owner, "DELETE", `/${id}`)).status).toBe(204);
  expect(await api.db.sql`select from webhook_retired_secrets`).toHaveLength(0);
});
