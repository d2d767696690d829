import { expect, test } from "bun:test";
import { WEBHOOKS_MAX } from "../../../api/webhooks/webhooks.ts";
import { errorOf } from "../../helpers/exports/export_job.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { callWebhooks, dataOf, WEBHOOK_BODY } from "../../helpers/webhooks/call_webhooks.ts";

test("a webhook is created, read, listed, changed and deleted, and its secret is shown once", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const created = await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY);
  expect(created.status).toBe(201);
  const { secret, ...webhook } = await dataOf<{ id: string; secret: string }>(created);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(webhook).toEqual({
    ...{ id: webhook.id, ...WEBHOOK_BODY, enabled: true, disabledAt: null },
    ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
  } as never);
  expect(await dataOf<object>(await callWebhooks(api, owner, "GET"))).toEqual({ webhooks: [webhook] });
  expect(await dataOf<object>(await callWebhooks(api, owner, "GET", `/${webhook.id}`))).toEqual(webhook);
  expect(await dataOf<object>(await callWebhooks(api, owner, "PATCH", `/${webhook.id}`, {}))).toEqual(
    webhook,
  );
  const change = { types: ["model.gone", "model.gone"], enabled: false };
  expect(
    await dataOf<object>(await callWebhooks(api, owner, "PATCH", `/${webhook.id}`, change)),
  ).toMatchObject({
    ...{ url: WEBHOOK_BODY.url, types: ["model.gone"], enabled: false, disabledAt: expect.any(String) },
  });
  expect((await callWebhooks(api, owner, "PATCH", `/${webhook.id}`, { enabled: true })).status).toBe(200);
  expect((await callWebhooks(api, owner, "DELETE", `/${webhook.id}`)).status).toBe(204);
  expect(await errorOf(await callWebhooks(api, owner, "GET", `/${webhook.id}`))).toEqual([404, "NOT_FOUND"]);
  const entries = await api.db.sql<{ action: string; details: unknown }[]>`
    select action, details from audit_log where subject_id = ${webhook.id} order by id`;
  expect(entries.map(({ action }) => action)).toEqual([
    ...["webhook.create", "webhook.update", "webhook.update", "webhook.delete"],
  ]);
  const written = JSON.stringify([entries, api.logLines]);
  expect(written).not.toContain(secret);
  expect(written).not.toContain("token=hidden");
});

test("invalid bodies, private addresses and unknown parameters are refused, and nothing is written", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  for (const [body, status] of [
    [{ ...WEBHOOK_BODY, url: "https://127.0.0.1/" }, 422],
    [{ ...WEBHOOK_BODY, url: "http://example.com/" }, 422],
    [{ ...WEBHOOK_BODY, url: "nowhere" }, 400],
    [{ ...WEBHOOK_BODY, types: [] }, 400],
    [{ ...WEBHOOK_BODY, types: ["x"] }, 400],
    [{ ...WEBHOOK_BODY, secret: "x" }, 400],
    [{ url: WEBHOOK_BODY.url }, 400],
    [{}, 400],
  ] as const) {
    const response = await callWebhooks(api, owner, "POST", "", body);
    expect([body, response.status]).toEqual([body, status]);
  }
  expect((await callWebhooks(api, owner, "GET", "?limit=1")).status).toBe(400);
  expect(await api.db.sql`select from webhooks`).toHaveLength(0);
});

test("an organization has at most 10 webhooks, even when webhooks are created concurrently", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const creating = Array.from({ length: WEBHOOKS_MAX + 3 }, () =>
    callWebhooks(api, owner, "POST", "", WEBHOOK_BODY),
  );
  const statuses = (await Promise.all(creating)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(WEBHOOKS_MAX);
  const refused = await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY);
  const { error } = (await refused.json()) as { error: { code: string; details: unknown } };
  expect([refused.status, error.code, error.details]).toEqual([
    409,
    "QUOTA_EXCEEDED",
    { quota: "webhooks", limit: WEBHOOKS_MAX },
  ]);
});

test("webhooks of another organization are not found", async () => {
  await using api = await openTestApp();
  const [owner, other] = [await api.make.person({ role: "owner" }), await api.make.person({ role: "owner" })];
  const { id } = await dataOf<{ id: string }>(await callWebhooks(api, other, "POST", "", WEBHOOK_BODY));
  for (const [method, path, body] of [
    ["GET", `/${id}`],
    ["PATCH", `/${id}`, { enabled: false }],
    ["DELETE", `/${id}`],
    ["POST", `/${id}/test`],
    ["GET", `/${id}/deliveries`],
    ["GET", "/x"],
  ] as const) {
    expect(await errorOf(await callWebhooks(api, owner, method, path, body))).toEqual([404, "NOT_FOUND"]);
  }
});

test("a member without the required role is refused, and the organization's audit log records that", async () => {
  await using api = await openTestApp();
  const { org } = await api.make.person({ role: "owner" });
  const publisher = await api.make.person({ org, role: "publisher" });
  expect(await errorOf(await callWebhooks(api, publisher, "POST", "", WEBHOOK_BODY))).toEqual([
    403,
    "INSUFFICIENT_ORG_ROLE",
  ]);
  const entries = await api.db.sql`select action from audit_log where org_id = ${org.id}`;
  expect([...entries]).toEqual([{ action: "request.refuse" }]);
});

test("automation and system keys of an owner can read webhooks but not change them", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const { id } = await dataOf<{ id: string }>(await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY));
  for (const kind of ["automation", "system"] as const) {
    const caller = { ...owner, key: (await api.make.key({ userId: owner.user.id, kind })).key };
    expect((await callWebhooks(api, caller, "GET", `/${id}`)).status).toBe(200);
    for (const [method, path, body] of [
      ["POST", "", WEBHOOK_BODY],
      ["PATCH", `/${id}`, { enabled: false }],
      ["POST", `/${id}/test`],
      ["DELETE", `/${id}`],
    ] as const) {
      const refusal = await errorOf(await callWebhooks(api, caller, method, path, body));
      expect([kind, method, path, ...refusal]).toEqual([kind, method, path, 403, "KEY_KIND_FORBIDDEN"]);
    }
  }
});
