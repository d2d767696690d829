/** While writes to accounts and organizations wait for a lock, they use few connections. */
import { expect, test } from "bun:test";
import { openOrgScene } from "../../helpers/accounts/organization.ts";
import type { TestApp, TestRequest } from "../../helpers/http/app.ts";
import { listWaiting } from "../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../helpers/wait_for.ts";
import { callWebhooks, dataOf, WEBHOOK_BODY } from "../../helpers/webhooks/call_webhooks.ts";

/** The limit on concurrent writes per caller and kind: a quarter of the connections, rounded down. */
const RUNNING = 2;
const HUNDRED = 100;

const config = { databasePoolMax: 10 };

test("a hundred writes to an organization by one caller leave connections for other callers", async () => {
  await using scene = await openOrgScene({ config });
  const { api, owner, org } = scene;
  const other = await api.make.person({ role: "owner" });
  const { id } = await dataOf<{ id: string }>(await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY));
  const sent: Promise<Response>[] = [];
  let settled = 0;
  await api.db.owner.begin(async (tx) => {
    await tx`select from organizations where id = ${org.id} for update`;
    for (let n = 0; n < HUNDRED; n += 1) {
      const writing = callWebhooks(api, owner, "POST", `/${id}/test`);
      sent.push(writing);
      void writing.then(() => {
        settled += 1;
      });
    }
    await waitFor(async () => (await listWaiting(api.db.admin)).length >= RUNNING);
    expect((await callWebhooks(api, other, "GET")).status).toBe(200);
    expect((await callWebhooks(api, other, "POST", "", WEBHOOK_BODY)).status).toBe(201);
    expect(await listWaiting(api.db.admin)).toHaveLength(RUNNING);
    expect(settled).toBe(0);
  });
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses).toEqual(Array.from({ length: HUNDRED }, () => 201));
});

/** A write request: its path, then its method and body. */
type Send = readonly [path: string, options: TestRequest];

test("a hundred waiting writes do not keep their caller from signing out", async () => {
  await using scene = await openOrgScene({ config });
  const { api, owner, org } = scene;
  const { id } = await dataOf<{ id: string }>(await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY));
  const sent: Promise<Response>[] = [];
  await api.db.owner.begin(async (tx) => {
    await tx`select from organizations where id = ${org.id} for update`;
    for (let n = 0; n < HUNDRED; n += 1) sent.push(callWebhooks(api, owner, "POST", `/${id}/test`));
    await waitFor(async () => (await listWaiting(api.db.admin)).length >= RUNNING);
    const signOut = { method: "POST", key: owner.token };
    expect((await api.request("/api/v1/auth/logout", signOut)).status).toBe(204);
  });
  await Promise.all(sent);
});

test("each write to an organization or an account takes one of the caller's turns", async () => {
  await using scene = await openOrgScene({ config });
  const { api, owner, org } = scene;
  const [member, stranger] = [await scene.join("viewer"), await api.make.person()];
  const { id } = await dataOf<{ id: string }>(await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY));
  const path = `/api/v1/orgs/${org.slug}`;
  const email = "new@example.com";
  const sends: readonly Send[] = [
    [`${path}/webhooks`, { method: "POST", body: WEBHOOK_BODY }],
    [`${path}/webhooks/${id}`, { method: "PATCH", body: { enabled: false } }],
    [`${path}/members/${member.user.id}`, { method: "PATCH", body: { role: "admin" } }],
    [`${path}/invitations`, { method: "POST", body: { email, role: "viewer" } }],
    [`${path}/projects`, { method: "POST", body: { name: "New", slug: "new" } }],
    [path, { method: "PATCH", body: { name: "New" } }],
    [path, { method: "DELETE", body: { confirm: org.slug } }],
    ["/api/v1/orgs", { method: "POST", body: { name: "New", slug: "new-organization" } }],
    ["/api/v1/users/me", { method: "PATCH", body: { bio: "New" } }],
    ["/api/v1/auth/keys", { method: "POST", body: { organization: org.slug } }],
    ["/api/v1/auth/factors/verify/options", { method: "POST", body: {} }],
    ["/api/v1/export/jobs", { method: "POST", body: {}, headers: { "X-Org-Slug": org.slug } }],
  ];
  for (const [address, options] of sends) {
    const writing: Promise<Response>[] = [];
    await api.db.owner.begin(async (tx) => {
      await tx`select from organizations for update`;
      await tx`select from users for update`;
      for (let n = 0; n < 2 * RUNNING; n += 1) {
        writing.push(api.request(address, { ...options, key: owner.token }));
      }
      expect([address, await countMostWaiting(api, stranger.key)]).toEqual([address, RUNNING]);
    });
    await Promise.all(writing);
  }
});

/** Returns the maximum number of sessions that wait for a lock at once. Gives pending requests time to reach the lock. */
async function countMostWaiting(api: TestApp, key: string): Promise<number> {
  const counts: number[] = [];
  const count = async () => {
    counts.push((await listWaiting(api.db.admin)).length);
    return Math.max(...counts) >= RUNNING;
  };
  await waitFor(count);
  for (let n = 0; n < 2 * RUNNING; n += 1) {
    // During this request, a write over the limit would reach the lock.
    expect((await api.request("/api/v1/auth/me", { key })).status).toBe(200);
    await count();
  }
  return Math.max(...counts);
}
