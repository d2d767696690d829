import { expect, test } from "bun:test";
import { errorOf } from "../../helpers/exports/export_job.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openContract } from "../../helpers/http/contract.ts";
import { commitDuring } from "../../helpers/postgres/waiting_sessions.ts";
import { callWebhooks, dataOf, WEBHOOK_BODY } from "../../helpers/webhooks/call_webhooks.ts";

test("a test event is queued and listed as documented, but is refused while the webhook is disabled", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const created = await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY);
  const { id, secret } = await dataOf<{ id: string; secret: string }>(created);
  const change = (enabled: boolean) => callWebhooks(api, owner, "PATCH", `/${id}`, { enabled });
  const send = () => callWebhooks(api, owner, "POST", `/${id}/test`);
  await change(false);
  expect(await errorOf(await send())).toEqual([400, "VALIDATION_ERROR"]);
  expect(await dataOf<object>(await callWebhooks(api, owner, "GET", `/${id}/deliveries`))).toEqual({
    deliveries: [],
  });
  await change(true);
  expect((await send()).status).toBe(201);
  expect(await dataOf<object>(await callWebhooks(api, owner, "GET", `/${id}/deliveries`))).toMatchObject({
    deliveries: [{ type: "webhook.test", status: "pending", attempts: 0 }],
  });
  const [{ payload }] = await api.db.sql<[{ payload: string }]>`
    select payload from webhook_deliveries where webhook_id = ${id}`;
  const { validate } = await openContract(api.app);
  expect(validate(["components", "schemas", "DeliveredEvent"], JSON.parse(payload))).toBeNull();
  const entries = await api.db.sql`select action, details from audit_log where subject_id = ${id}`;
  expect(entries.map(({ action }) => action)).toContain("webhook.test");
  expect(JSON.stringify([entries, api.logLines])).not.toContain(secret);
});

test("a webhook that is deleted or disabled during the request gets no test event", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const created = await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY);
  const { id } = await dataOf<{ id: string }>(created);
  const send = () => callWebhooks(api, owner, "POST", `/${id}/test`);
  const disabled = await commitDuring(
    api.db,
    (tx) => tx`update webhooks set disabled_at = now() where id = ${id}`,
    send,
  );
  expect(await errorOf(disabled)).toEqual([400, "VALIDATION_ERROR"]);
  const deleted = await commitDuring(api.db, (tx) => tx`delete from webhooks where id = ${id}`, send);
  expect(await errorOf(deleted)).toEqual([404, "NOT_FOUND"]);
});
