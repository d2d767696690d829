import { expect, test } from "bun:test";
import { WEBHOOKS_MAX } from "../../../api/webhooks/manage.ts";
import { errorOf } from "../../helpers/exports/export_job.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openContract } from "../../helpers/http/contract.ts";
import type { Person } from "../../helpers/postgres/factory.ts";

const BODY = { url: "https://example.com/hook?token=hidden", types: ["export.ready"] };

function call(api: TestApp, { key, org }: Person, method: string, path = "", body?: unknown) {
  return api.request(`/api/v1/orgs/${org.slug}/webhooks${path}`, {
    key,
    method,
    ...(body === undefined ? {} : { body }),
  });
}

async function dataOf<Data>(response: Response): Promise<Data> {
  return ((await response.json()) as { data: Data }).data;
}

test("a webhook is created, read, listed, changed and deleted; its secret is shown once", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const created = await call(api, owner, "POST", "", BODY);
  expect(created.status).toBe(201);
  const { secret, ...webhook } = await dataOf<{ id: string; secret: string }>(created);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(webhook).toEqual({
    ...{ id: webhook.id, ...BODY, enabled: true, disabledAt: null },
    ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
  } as never);
  expect(await dataOf<object>(await call(api, owner, "GET"))).toEqual({ webhooks: [webhook] });
  expect(await dataOf<object>(await call(api, owner, "GET", `/${webhook.id}`))).toEqual(webhook);
  const change = { types: ["model.gone", "model.gone"], enabled: false };
  expect(await dataOf<object>(await call(api, owner, "PATCH", `/${webhook.id}`, change))).toMatchObject({
    ...{ url: BODY.url, types: ["model.gone"], enabled: false, disabledAt: expect.any(String) },
  });
  expect((await call(api, owner, "POST", `/${webhook.id}/test`)).status).toBe(400);
  expect((await call(api, owner, "PATCH", `/${webhook.id}`, { enabled: true })).status).toBe(200);
  expect((await call(api, owner, "POST", `/${webhook.id}/test`)).status).toBe(201);
  const listed = await dataOf<object>(await call(api, owner, "GET", `/${webhook.id}/deliveries`));
  expect(listed).toMatchObject({ deliveries: [{ type: "webhook.test", status: "pending", attempts: 0 }] });
  const [{ payload }] = await api.db.sql<[{ payload: string }]>`
    select payload from webhook_deliveries where webhook_id = ${webhook.id}`;
  const { validate } = await openContract(api.app);
  expect(validate(["components", "schemas", "DeliveredEvent"], JSON.parse(payload))).toBeNull();
  expect((await call(api, owner, "DELETE", `/${webhook.id}`)).status).toBe(204);
  expect(await errorOf(await call(api, owner, "GET", `/${webhook.id}`))).toEqual([404, "NOT_FOUND"]);
  const entries = await api.db.sql<{ action: string; details: unknown }[]>`
    select action, details from audit_log where subject_id = ${webhook.id} order by id`;
  expect(entries.map(({ action }) => action)).toEqual([
    ...["webhook.create", "webhook.update", "webhook.update", "webhook.test", "webhook.delete"],
  ]);
  const written = JSON.stringify([entries, api.logLines]);
  expect(written).not.toContain(secret);
  expect(written).not.toContain("token=hidden");
});

test("a secret is replaced at most five times in 24 hours, and old ones are deleted with the webhook", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const { id, secret } = await dataOf<{ id: string; secret: string }>(
    await call(api, owner, "POST", "", BODY),
  );
  const secrets = [secret];
  const rotate = () => call(api, owner, "POST", `/${id}/rotate`);
  for (let n = 0; n < 5; n += 1) {
    const response = await rotate();
    const data = await dataOf<{ secret: string; previousSecretExpiresAt: string }>(response);
    const { secret: fresh, previousSecretExpiresAt, ...webhook } = data;
    expect([response.status, fresh]).toEqual([200, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/)]);
    expect(webhook).toEqual(await dataOf(await call(api, owner, "GET", `/${id}`)));
    expect(Math.round((Date.parse(previousSecretExpiresAt) - Date.now()) / 3_600_000)).toBe(24);
    secrets.push(fresh);
  }
  expect(new Set(secrets).size).toBe(6);
  expect(await errorOf(await rotate())).toEqual([409, "QUOTA_EXCEEDED"]);
  const [row] = await api.db.sql`select secret from webhooks where id = ${id}`;
  expect(row?.["secret"]).toBe(secrets.at(-1));
  const stranger = await api.make.person({ role: "owner" });
  expect((await call(api, { ...stranger, org: owner.org }, "POST", `/${id}/rotate`)).status).toBe(403);
  expect(await errorOf(await call(api, stranger, "POST", `/${id}/rotate`))).toEqual([404, "NOT_FOUND"]);
  const log = JSON.stringify([await api.db.sql`select action, details from audit_log`, api.logLines]);
  expect(log).toContain("webhook.rotate");
  for (const text of secrets) expect(log).not.toContain(text);
  expect((await call(api, owner, "DELETE", `/${id}`)).status).toBe(204);
  expect(await api.db.sql`select from webhook_retired_secrets`).toHaveLength(0);
});

test("bad bodies, private addresses and queries are refused before anything is written", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  for (const [body, status] of [
    [{ ...BODY, url: "https://127.0.0.1/" }, 422],
    [{ ...BODY, url: "http://example.com/" }, 422],
    [{ ...BODY, url: "nowhere" }, 400],
    [{ ...BODY, types: [] }, 400],
    [{ ...BODY, types: ["x"] }, 400],
    [{ ...BODY, secret: "x" }, 400],
    [{ url: BODY.url }, 400],
    [{}, 400],
  ] as const) {
    const response = await call(api, owner, "POST", "", body);
    expect([body, response.status]).toEqual([body, status]);
  }
  expect((await call(api, owner, "GET", "?limit=1")).status).toBe(400);
  expect(await api.db.sql`select from webhooks`).toHaveLength(0);
});

test("an organization has up to 10 webhooks, also when they are created at once", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const creating = Array.from({ length: WEBHOOKS_MAX + 3 }, () => call(api, owner, "POST", "", BODY));
  const statuses = (await Promise.all(creating)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(WEBHOOKS_MAX);
  const refused = await call(api, owner, "POST", "", BODY);
  const { error } = (await refused.json()) as { error: { code: string; details: unknown } };
  expect([refused.status, error.code, error.details]).toEqual([
    409,
    "QUOTA_EXCEEDED",
    { quota: "webhooks", limit: WEBHOOKS_MAX },
  ]);
});

test("webhooks of another organization are not there", async () => {
  await using api = await openTestApp();
  const [owner, other] = [await api.make.person({ role: "owner" }), await api.make.person({ role: "owner" })];
  const { id } = await dataOf<{ id: string }>(await call(api, other, "POST", "", BODY));
  for (const [method, path, body] of [
    ["GET", `/${id}`],
    ["PATCH", `/${id}`, { enabled: false }],
    ["DELETE", `/${id}`],
    ["POST", `/${id}/test`],
    ["GET", `/${id}/deliveries`],
    ["GET", "/x"],
  ] as const) {
    expect(await errorOf(await call(api, owner, method, path, body))).toEqual([404, "NOT_FOUND"]);
  }
});

test("a member without the role is denied, and the audit log of the organization says so", async () => {
  await using api = await openTestApp();
  const { org } = await api.make.person({ role: "owner" });
  const publisher = await api.make.person({ org, role: "publisher" });
  expect(await errorOf(await call(api, publisher, "POST", "", BODY))).toEqual([403, "INSUFFICIENT_ORG_ROLE"]);
  const entries = await api.db.sql`select action from audit_log where org_id = ${org.id}`;
  expect([...entries]).toEqual([{ action: "request.refuse" }]);
});

test("automation and system keys of an owner read webhooks, and change none", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const { id } = await dataOf<{ id: string }>(await call(api, owner, "POST", "", BODY));
  for (const kind of ["automation", "system"] as const) {
    const caller = { ...owner, key: (await api.make.key({ userId: owner.user.id, kind })).key };
    expect((await call(api, caller, "GET", `/${id}`)).status).toBe(200);
    for (const [method, path, body] of [
      ["POST", "", BODY],
      ["PATCH", `/${id}`, { enabled: false }],
      ["POST", `/${id}/test`],
      ["DELETE", `/${id}`],
    ] as const) {
      const refusal = await errorOf(await call(api, caller, method, path, body));
      expect([kind, method, path, ...refusal]).toEqual([kind, method, path, 403, "KEY_KIND_FORBIDDEN"]);
    }
  }
});
