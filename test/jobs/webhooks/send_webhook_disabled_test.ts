import { expect, test } from "bun:test";
import { sendWebhookDisabled } from "../../../jobs/webhooks/send_webhook_disabled.ts";
import { storedMails } from "../../helpers/accounts/account_mail.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";

/**
 * Opens an app with a disabled webhook. Also returns a function that changes the webhook, and the payload of the mail job from when
 * the webhook was disabled.
 */
async function openDisabled() {
  const app = await openTestApp();
  const owner = await app.make.person({ role: "owner" });
  const [webhook] = await app.db.sql<[{ id: string; disabledAt: string }]>`
    insert into webhooks (org_id, url, types, secret, position, disabled_at)
    values (${owner.org.id}, 'https://old.example/hook', '{export.ready}', 'whsec_AAAA', 0, now() - interval '1 hour')
    returning id, disabled_at`;
  const { id: webhookId, disabledAt } = webhook;
  const change = async (body: object) => {
    const path = `/api/v1/orgs/${owner.org.slug}/webhooks/${webhookId}`;
    expect((await app.request(path, { method: "PATCH", key: owner.key, body })).status).toBe(200);
  };
  return { app, change, queued: { webhookId, disabledAt, origin: "https://old.example" } };
}

test("names the failed address in the mail even if the URL has since changed", async () => {
  const { app: opened, change, queued } = await openDisabled();
  await using app = opened;
  await using runner = await openTestRunner(app);
  await change({ url: "https://new.example/hook" });
  await sendWebhookDisabled(runner.deps, queued);
  const [mail, ...others] = await storedMails(app);
  expect(others).toEqual([]);
  expect(mail?.text).toContain("https://old.example");
  expect(mail?.text).not.toContain("https://new.example");
});

test("sends no mail about a webhook that was enabled again and then disabled manually", async () => {
  const { app: opened, change, queued } = await openDisabled();
  await using app = opened;
  await using runner = await openTestRunner(app);
  await change({ url: "https://new.example/hook", enabled: true });
  await change({ enabled: false });
  await sendWebhookDisabled(runner.deps, queued);
  expect(await storedMails(app)).toEqual([]);
});

test("sends the mail for a job queued by an earlier release, whose payload has only the webhook's id", async () => {
  const { app: opened, queued } = await openDisabled();
  await using app = opened;
  await using runner = await openTestRunner(app);
  await sendWebhookDisabled(runner.deps, { webhookId: queued.webhookId });
  const [mail] = await storedMails(app);
  expect(mail?.text).toContain("https://old.example");
});
